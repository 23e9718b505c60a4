package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rlrun/rlrun/framework/report"
	"github.com/rlrun/rlrun/framework/result"
)

// window shows regret by the length of the window, relative to that of the window
// of one mixing time.
func window(s *study) error {
	const prefix = "T/T̂ = "
	figure := &report.Figure{Title: fmt.Sprintf("Regret by the window, relative to T = T̂, %d runs, 95 %% bands", s.Meta.Runs), XLabel: "T/T̂", YLabel: "regret / regret at T = T̂", LogX: true, Levels: []report.Level{{Label: "T = T̂", Y: 1}}}
	fmt.Fprintf(s.w, "Regret after %d steps, %d runs, ± half of the 95 %% interval; in brackets the mean window T:\n\n", s.Meta.Steps, s.Meta.Runs)
	head := []string{"T/T̂"}
	for _, agent := range s.Meta.Agents {
		head = append(head, strings.TrimPrefix(agent, prefix))
	}
	var rows [][]string
	for _, env := range s.Meta.Environments {
		row := []string{env}
		line := report.Line{Label: env}
		base, err := s.last(env, prefix+"1", result.Regret)
		if err != nil {
			return err
		}
		for _, agent := range s.Meta.Agents {
			e, err := s.last(env, agent, result.Regret)
			if err != nil {
				return err
			}
			t, err := s.last(env, agent, result.MixingTime)
			if err != nil {
				return err
			}
			x, err := strconv.ParseFloat(strings.TrimPrefix(agent, prefix), 64)
			if err != nil {
				return err
			}
			row = append(row, fmt.Sprintf("%s (%.1f)", interval(e, 0), t.Mean))
			r := scaled(e, 1/base.Mean)
			line.X, line.Y, line.Low, line.High = append(line.X, x), append(line.Y, r.Mean), append(line.Low, r.Low), append(line.High, r.High)
		}
		rows = append(rows, row)
		figure.Lines = append(figure.Lines, line)
	}
	s.table(head, rows)
	return s.figure("", figure)
}

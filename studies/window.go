package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/rlrun/rlrun/framework/output/plots"
	"github.com/rlrun/rlrun/framework/result"
)

// window shows regret and exploration by the length of the commitment, and regret
// relative to a commitment of one mixing time.
func window(s *study) error {
	const prefix = "T/T̂ = "
	learner := map[string]string{"window": "ten models, γ = 0.99", "window-long": "ten models, γ = 0.9999", "window-tables": "sixteen tables, γ = 0.99"}[s.name]
	figure := &plots.Figure{Title: fmt.Sprintf("Regret by the length of the commitment, %s, %d runs, 95 %% bands", learner, s.Meta.Runs), XLabel: "x: a commitment of 2ˣ estimated exploration mixing times", YLabel: "regret, relative to that at x = 0", LogY: true}
	fmt.Fprintf(s.w, "Regret after %d steps, %d runs, ± half of the 95 %% interval; in brackets the mean commitment T:\n\n", s.Meta.Steps, s.Meta.Runs)
	head := []string{"T/T̂"}
	for _, agent := range s.Meta.Agents {
		head = append(head, strings.TrimPrefix(agent, prefix))
	}
	var rows, shares [][]string
	for _, env := range s.Meta.Environments {
		row, share := []string{env}, []string{env}
		line := plots.Line{Label: env}
		base, err := s.last(env, prefix+"1", result.Regret)
		if err != nil {
			return err
		}
		for _, agent := range s.Meta.Agents {
			e, t, explored, err := s.windows(env, agent)
			if err != nil {
				return err
			}
			share = append(share, interval(scaled(explored, 100), 0))
			x, err := strconv.ParseFloat(strings.TrimPrefix(agent, prefix), 64)
			if err != nil {
				return err
			}
			row = append(row, fmt.Sprintf("%s (%.1f)", interval(e, 0), t.Mean))
			r := scaled(e, 1/base.Mean)
			line.X, line.Y, line.Low, line.High = append(line.X, math.Log2(x)), append(line.Y, r.Mean), append(line.Low, r.Low), append(line.High, r.High)
		}
		rows, shares = append(rows, row), append(shares, share)
		figure.Lines = append(figure.Lines, line)
	}
	s.table(head, rows)
	fmt.Fprintf(s.w, "Share of the steps under an exploratory option, in percent:\n\n")
	s.table(head, shares)
	return s.figure("", figure)
}

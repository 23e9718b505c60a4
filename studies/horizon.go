package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rlrun/rlrun/framework/output/plots"
	"github.com/rlrun/rlrun/framework/result"
)

var (
	windows  = []int{1, 4, 16, 64}
	horizons = []float64{0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999}
)

// horizon shows how much is explored, by the horizon and by the window.
func horizon(s *study) error {
	head := []string{"γ"}
	for _, t := range windows {
		head = append(head, "T = "+strconv.Itoa(t))
	}
	byGamma := &plots.Figure{Title: fmt.Sprintf("RiverSwim: steps under an exploratory option, %d runs, 95 %% bands", s.Meta.Runs), XLabel: "1/(1−γ)", YLabel: "share of exploratory steps", LogX: true}
	byShare := &plots.Figure{Title: "RiverSwim: the same steps by the share of the horizon, ρ = 1 − γᵀ", XLabel: "ρ", YLabel: "share of exploratory steps", LogX: true}
	for _, metric := range []struct {
		title    string
		m        result.Metric
		unit     float64
		decimals int
	}{
		{"Share of the steps under an exploratory option, in percent", result.ExplorationShare, 100, 1},
		{"Regret", result.Regret, 1, 0},
	} {
		fmt.Fprintf(s.w, "%s after %d steps, %d runs, ± half of the 95 %% interval:\n\n", metric.title, s.Meta.Steps, s.Meta.Runs)
		var rows [][]string
		for _, g := range horizons {
			row := []string{strconv.FormatFloat(g, 'g', -1, 64)}
			for _, t := range windows {
				e, err := s.last(river, fmt.Sprintf("T=%d, γ=%v", t, g), metric.m)
				if err != nil {
					return err
				}
				row = append(row, interval(scaled(e, metric.unit), metric.decimals))
			}
			rows = append(rows, row)
		}
		s.table(head, rows)
	}
	first, final := horizons[0], horizons[len(horizons)-1]
	fmt.Fprintf(s.w, "Regret at γ = %v minus that at γ = %v, run by run:\n\n", final, first)
	row := []string{"difference"}
	for _, t := range windows {
		e, err := s.difference(river, fmt.Sprintf("T=%d, γ=%v", t, final), fmt.Sprintf("T=%d, γ=%v", t, first))
		if err != nil {
			return err
		}
		row = append(row, interval(e, 0))
	}
	s.table(append([]string{""}, head[1:]...), [][]string{row})
	for _, t := range windows {
		var a, b plots.Line
		a.Label, b.Label = fmt.Sprintf("T = %d", t), fmt.Sprintf("T = %d", t)
		for k := range horizons {
			g := horizons[k]
			e, err := s.last(river, fmt.Sprintf("T=%d, γ=%v", t, g), result.ExplorationShare)
			if err != nil {
				return err
			}
			a.X, a.Y, a.Low, a.High = append(a.X, 1/(1-g)), append(a.Y, e.Mean), append(a.Low, e.Low), append(a.High, e.High)
			g = horizons[len(horizons)-1-k] // ρ falls as γ grows
			if e, err = s.last(river, fmt.Sprintf("T=%d, γ=%v", t, g), result.ExplorationShare); err != nil {
				return err
			}
			b.X, b.Y, b.Low, b.High = append(b.X, 1-math.Pow(g, float64(t))), append(b.Y, e.Mean), append(b.Low, e.Low), append(b.High, e.High)
		}
		byGamma.Lines, byShare.Lines = append(byGamma.Lines, a), append(byShare.Lines, b)
	}
	if err := s.figure("", byGamma); err != nil {
		return err
	}
	return s.figure("share", byShare)
}

// horizonMixing shows how much is explored, by the horizon and by the mixing time of
// the task.
func horizonMixing(s *study) error {
	head := []string{"γ"}
	byGamma := &plots.Figure{Title: fmt.Sprintf("Grids: steps under an exploratory option, %d runs, 95 %% bands", s.Meta.Runs), XLabel: "1/(1−γ)", YLabel: "share of exploratory steps", LogX: true}
	byShare := &plots.Figure{Title: "The same steps by the share of the horizon, ρ = 1 − γᵀ for the estimated T", XLabel: "ρ", YLabel: "share of exploratory steps", LogX: true}
	rows, regrets := make([][]string, len(s.Meta.Agents)), make([][]string, len(s.Meta.Agents))
	for _, env := range s.Meta.Environments {
		head = append(head, env)
		a, b := plots.Line{Label: env}, plots.Line{Label: env}
		var times []float64
		for k, agent := range s.Meta.Agents {
			gamma := strings.TrimPrefix(agent, "γ=")
			g, err := strconv.ParseFloat(gamma, 64)
			if err != nil {
				return err
			}
			if rows[k] == nil {
				rows[k], regrets[k] = []string{gamma}, []string{gamma}
			}
			regret, t, e, err := s.windows(env, agent)
			if err != nil {
				return err
			}
			times = append(times, t.Mean)
			rows[k] = append(rows[k], fmt.Sprintf("%s (%.1f)", interval(scaled(e, 100), 1), t.Mean))
			regrets[k] = append(regrets[k], interval(regret, 0))
			a.X, a.Y, a.Low, a.High = append(a.X, 1/(1-g)), append(a.Y, e.Mean), append(a.Low, e.Low), append(a.High, e.High)
			// ρ falls as γ grows.
			b.X, b.Y, b.Low, b.High = slices.Insert(b.X, 0, 1-math.Pow(g, t.Mean)), slices.Insert(b.Y, 0, e.Mean), slices.Insert(b.Low, 0, e.Low), slices.Insert(b.High, 0, e.High)
		}
		slices.Sort(times)
		a.Label = fmt.Sprintf("%s, T = %.0f", env, times[len(times)/2])
		byGamma.Lines, byShare.Lines = append(byGamma.Lines, a), append(byShare.Lines, b)
	}
	fmt.Fprintf(s.w, "Share of the steps under an exploratory option, in percent after %d steps, %d runs, ± half of the 95 %% interval; in brackets the mean of T̂ at the end:\n\n", s.Meta.Steps, s.Meta.Runs)
	s.table(head, rows)
	fmt.Fprintf(s.w, "Regret after %d steps, %d runs, ± half of the 95 %% interval:\n\n", s.Meta.Steps, s.Meta.Runs)
	s.table(head, regrets)
	if err := s.figure("", byGamma); err != nil {
		return err
	}
	return s.figure("share", byShare)
}

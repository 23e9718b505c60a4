package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/rlrun/rlrun/framework/report"
	"github.com/rlrun/rlrun/framework/result"
)

const river = "RiverSwim"

// riverSwim compares rules of exploring with options by regret.
func riverSwim(s *study) error {
	var gammas, priors = []string{"0.9", "0.99", "0.999"}, []string{"pessimistic", "optimistic"}
	rules := []string{"pairwise U", "pairwise U+", "pairwise V", "index U", "index V", "Algorithm 1", "Algorithm 2", "uniform option"}
	head := []string{"rule"}
	for _, prior := range priors {
		for _, g := range gammas {
			head = append(head, prior+", γ = "+g)
		}
	}
	for _, t := range []struct {
		title    string
		metric   result.Metric
		decimals int
		unit     float64
	}{
		{"Regret", result.Regret, 0, 1},
		{"Share of the steps under an exploratory option, in percent", result.ExplorationShare, 1, 100},
	} {
		fmt.Fprintf(s.w, "%s after %d steps, %d runs, ± half of the 95 %% interval:\n\n", t.title, s.Meta.Steps, s.Meta.Runs)
		var rows [][]string
		for _, rule := range rules {
			row := []string{rule}
			for _, prior := range priors {
				for _, g := range gammas {
					e, err := s.last(river, fmt.Sprintf("%s, γ=%s, %s", rule, g, prior), t.metric)
					if err != nil {
						return err
					}
					row = append(row, interval(scaled(e, t.unit), t.decimals))
				}
			}
			rows = append(rows, row)
		}
		s.table(head, rows)
	}
	fmt.Fprintf(s.w, "Others, regret after %d steps:\n\n", s.Meta.Steps)
	type agent struct {
		name string
		result.Estimate
	}
	var others []agent
	for _, a := range s.Meta.Agents {
		if !strings.Contains(a, "γ=") {
			e, err := s.last(river, a, result.Regret)
			if err != nil {
				return err
			}
			others = append(others, agent{a, e})
		}
	}
	slices.SortFunc(others, func(x, y agent) int { return int(math.Copysign(1, x.Mean-y.Mean)) })
	var rows [][]string
	for _, a := range others {
		rows = append(rows, []string{a.name, interval(a.Estimate, 0)})
	}
	s.table([]string{"agent", "regret"}, rows)

	fmt.Fprintf(s.w, "Runs of %d that earn less than 0.02 a step in the end:\n\n", s.Meta.Runs)
	rows = nil
	for _, rule := range rules {
		row := []string{rule}
		for _, prior := range priors {
			for _, g := range gammas {
				rewards, err := s.final(river, fmt.Sprintf("%s, γ=%s, %s", rule, g, prior), result.Reward)
				if err != nil {
					return err
				}
				n := 0
				for _, x := range rewards {
					if x < 0.02 {
						n++
					}
				}
				row = append(row, strconv.Itoa(n))
			}
		}
		rows = append(rows, row)
	}
	s.table(head, rows)

	fmt.Fprintf(s.w, "Differences of regret, run by run:\n\n")
	rows = nil
	pairs := [][2]string{
		{"Algorithm 2, γ=0.99, optimistic", "sampling, optimistic"},
		{"Algorithm 2, γ=0.99, optimistic", "greedy, optimistic"},
		{"Algorithm 2, γ=0.99, optimistic", "MBIE-EB"},
		{"Algorithm 2, γ=0.99, pessimistic", "sampling, pessimistic"},
	}
	for _, prior := range priors {
		for _, rule := range rules {
			pairs = append(pairs, [2]string{rule + ", γ=0.999, " + prior, rule + ", γ=0.9, " + prior})
		}
	}
	for _, p := range pairs {
		e, err := s.difference(river, p[0], p[1])
		if err != nil {
			return err
		}
		rows = append(rows, []string{p[0], p[1], interval(e, 0)})
	}
	s.table([]string{"agent", "minus", "regret"}, rows)

	regret, err := report.NewFigure(s.Summary, river, result.Regret, report.Options{
		Title: fmt.Sprintf("RiverSwim: regret to the optimum, %d runs, 95 %% bands", s.Meta.Runs),
		Agents: []string{"Algorithm 2, γ=0.99, optimistic", "Algorithm 2, γ=0.99, pessimistic", "pairwise U, γ=0.99, pessimistic",
			"uniform option, γ=0.99, pessimistic", "sampling, optimistic", "PSRL, sparse prior", "UCRL2, widths × 0.1", "ε-greedy Q-learning"},
	})
	if err != nil {
		return err
	}
	regret.LogY = true
	for i := range regret.Lines { // before, all are on one line
		l := &regret.Lines[i]
		from, _ := slices.BinarySearch(l.X, 50)
		l.X, l.Y, l.Low, l.High = l.X[from:], l.Y[from:], l.Low[from:], l.High[from:]
	}
	share, err := report.NewFigure(s.Summary, river, result.ExplorationShare, report.Options{
		Title: "RiverSwim: how much the rules explore, pessimistic prior",
		Agents: []string{"Algorithm 2, γ=0.9, pessimistic", "Algorithm 2, γ=0.99, pessimistic", "Algorithm 2, γ=0.999, pessimistic",
			"pairwise U, γ=0.9, pessimistic", "pairwise U, γ=0.99, pessimistic", "pairwise U, γ=0.999, pessimistic"},
		Labels: []string{"Algorithm 2, γ = 0.9", "Algorithm 2, γ = 0.99", "Algorithm 2, γ = 0.999",
			"pairwise U, γ = 0.9", "pairwise U, γ = 0.99", "pairwise U, γ = 0.999"},
	})
	if err != nil {
		return err
	}
	window := &report.Figure{Title: "RiverSwim: the estimated exploration mixing time, median and quartiles", XLabel: "steps", YLabel: "steps for which an option is held", LogX: true, LogY: true}
	for _, agent := range []string{"Algorithm 2, γ=0.99, optimistic", "Algorithm 2, γ=0.99, pessimistic", "pairwise U, γ=0.99, pessimistic"} {
		runs, err := s.curves(river, agent, result.MixingTime)
		if err != nil {
			return err
		}
		line := report.Line{Label: agent}
		at := make([]float64, len(runs))
		for k, step := range s.Meta.Grid {
			for i, r := range runs {
				at[i] = r[k]
			}
			slices.Sort(at)
			line.X = append(line.X, float64(step))
			line.Y = append(line.Y, stat.Quantile(0.5, stat.Empirical, at, nil))
			line.Low = append(line.Low, stat.Quantile(0.25, stat.Empirical, at, nil))
			line.High = append(line.High, stat.Quantile(0.75, stat.Empirical, at, nil))
		}
		window.Lines = append(window.Lines, line)
	}
	for part, f := range map[string]*report.Figure{"": regret, "share": share, "window": window} {
		if err := s.figure(part, f); err != nil {
			return err
		}
	}
	return nil
}

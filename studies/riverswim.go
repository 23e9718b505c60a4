package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/rlrun/rlrun/framework/output/plots"
	"github.com/rlrun/rlrun/framework/result"
)

const river = "RiverSwim"

// The rules of exploring that riverSwim compares, each with every prior and discount.
var (
	riverRules  = []string{"pairwise U", "pairwise U+", "pairwise V", "index U", "index V", "Algorithm 1", "Algorithm 2", "uniform option"}
	riverPriors = []string{"pessimistic", "optimistic"}
	riverGammas = []string{"0.9", "0.99", "0.999"}
)

// riverSwim compares rules of exploring with options by regret.
func riverSwim(s *study) error {
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
		if err := s.byRule(func(agent string) (string, error) {
			e, err := s.last(river, agent, t.metric)
			return interval(scaled(e, t.unit), t.decimals), err
		}); err != nil {
			return err
		}
	}
	if err := s.riverOthers(); err != nil {
		return err
	}
	fmt.Fprintf(s.w, "Runs of %d that earn less than 0.02 a step in the end:\n\n", s.Meta.Runs)
	if err := s.byRule(func(agent string) (string, error) {
		rewards, err := s.final(river, agent, result.Reward)
		n := 0
		for _, x := range rewards {
			if x < 0.02 {
				n++
			}
		}
		return strconv.Itoa(n), err
	}); err != nil {
		return err
	}
	return errors.Join(s.riverDifferences(), s.riverFigures())
}

// byRule prints a table with a cell for each rule, prior and discount.
func (s *study) byRule(cell func(agent string) (string, error)) error {
	head := []string{"rule"}
	for _, prior := range riverPriors {
		for _, g := range riverGammas {
			head = append(head, prior+", γ = "+g)
		}
	}
	var rows [][]string
	for _, rule := range riverRules {
		row := []string{rule}
		for _, prior := range riverPriors {
			for _, g := range riverGammas {
				c, err := cell(fmt.Sprintf("%s, γ=%s, %s", rule, g, prior))
				if err != nil {
					return err
				}
				row = append(row, c)
			}
		}
		rows = append(rows, row)
	}
	s.table(head, rows)
	return nil
}

// riverOthers prints the regret of the agents without such a rule, the least first.
func (s *study) riverOthers() error {
	fmt.Fprintf(s.w, "Others, regret after %d steps:\n\n", s.Meta.Steps)
	type agent struct {
		name string
		result.Estimate
	}
	var others []agent
	for _, a := range s.Meta.Agents {
		if strings.Contains(a, "γ=") {
			continue
		}
		e, err := s.last(river, a, result.Regret)
		if err != nil {
			return err
		}
		others = append(others, agent{a, e})
	}
	slices.SortStableFunc(others, func(x, y agent) int { return cmp.Compare(x.Mean, y.Mean) })
	var rows [][]string
	for _, a := range others {
		rows = append(rows, []string{a.name, interval(a.Estimate, 0)})
	}
	s.table([]string{"agent", "regret"}, rows)
	return nil
}

// riverDifferences prints differences of regret, run by run.
func (s *study) riverDifferences() error {
	fmt.Fprintf(s.w, "Differences of regret, run by run:\n\n")
	pairs := [][2]string{
		{"Algorithm 2, γ=0.99, optimistic", "sampling, optimistic"},
		{"Algorithm 2, γ=0.99, optimistic", "greedy, optimistic"},
		{"Algorithm 2, γ=0.99, optimistic", "MBIE-EB"},
		{"Algorithm 2, γ=0.99, pessimistic", "sampling, pessimistic"},
	}
	for _, prior := range riverPriors {
		for _, rule := range riverRules {
			pairs = append(pairs, [2]string{rule + ", γ=0.999, " + prior, rule + ", γ=0.9, " + prior})
		}
	}
	var rows [][]string
	for _, p := range pairs {
		e, err := s.difference(river, p[0], p[1])
		if err != nil {
			return err
		}
		rows = append(rows, []string{p[0], p[1], interval(e, 0)})
	}
	s.table([]string{"agent", "minus", "regret"}, rows)
	return nil
}

// riverFigures draws regret, exploration and the estimated mixing time.
func (s *study) riverFigures() error {
	regret, err := plots.NewFigure(s.Summary, river, result.Regret, plots.Config{
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
	o := plots.Config{Title: "RiverSwim: how much the rules explore, pessimistic prior", Smooth: 1}
	for _, rule := range []string{"Algorithm 2", "pairwise U"} {
		for _, g := range riverGammas {
			o.Agents = append(o.Agents, fmt.Sprintf("%s, γ=%s, pessimistic", rule, g))
			o.Labels = append(o.Labels, fmt.Sprintf("%s, γ = %s", rule, g))
		}
	}
	share, err := plots.NewFigure(s.Summary, river, result.ExplorationShare, o)
	if err != nil {
		return err
	}
	window, err := s.riverMixing()
	if err != nil {
		return err
	}
	return errors.Join(s.figure("", regret), s.figure("share", share), s.figure("window", window))
}

// riverMixing draws for how long options are held.
func (s *study) riverMixing() (*plots.Figure, error) {
	f := &plots.Figure{Title: "RiverSwim: the estimated exploration mixing time, median and quartiles", XLabel: "steps", YLabel: "steps for which an option is held", LogX: true, LogY: true}
	for _, agent := range []string{"Algorithm 2, γ=0.99, optimistic", "Algorithm 2, γ=0.99, pessimistic", "pairwise U, γ=0.99, pessimistic"} {
		runs, err := s.curves(river, agent, result.MixingTime)
		if err != nil {
			return nil, err
		}
		line := plots.Line{Label: agent}
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
		f.Lines = append(f.Lines, line)
	}
	return f, nil
}

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework/output/plots"
	"github.com/rlrun/rlrun/framework/result"
)

// phase is how long the phases of each task are.
var phase = map[string]int{"Chain": 1000, "DoubleLoop": 1000, "Maze": 20000}

// drawn are the agents in the figures of each task, if they take part: one of every
// kind.
var drawn = map[string][]string{
	"Chain":      {"Algorithm 2 on 10 models", "sampling on 10 models", "optimistic model", "greedy, optimistic posterior", "MBIE-EB, β = 0.1", "R-MAX, m = 15", "Bayesian Q-learning, VPI and mixture"},
	"DoubleLoop": {"Algorithm 2 on 10 models", "sampling on 10 models", "optimistic model", "Algorithm 2 on 10 models, T ≤ 20", "MBIE-EB, β = 0.1", "R-MAX, m = 15", "Bayesian Q-learning, VPI and mixture"},
	"Maze": {"Algorithm 2 on 10 models", "Algorithm 1 on 10 models", "sampling on 10 models", "greedy, optimistic posterior",
		"optimistic model", "MBIE-EB, β = 0.1", "MBIE-EB, β = 0.03", "R-MAX, m = 5", "Bayesian Q-learning, VPI and mixture, prior 0 ± 10", "ε-greedy Q-learning", "ε-greedy Dyna-Q"},
}

// dearden prints the reward of two phases, and draws the reward of a step over time.
func dearden(s *study) error {
	fmt.Fprintf(s.w, "Total reward of the first and second phase, %d runs, ± half of the 95 %% interval:\n\n", s.Meta.Runs)
	head := []string{"agent"}
	for _, env := range s.Meta.Environments {
		if phase[env] == 0 {
			return fmt.Errorf("the phases of %s are not known", env)
		}
		head = append(head, fmt.Sprintf("%s, phases of %d steps", env, phase[env]))
	}
	var rows [][]string
	for _, agent := range s.Meta.Agents {
		row := []string{agent}
		for _, env := range s.Meta.Environments {
			first, second, err := s.phases(env, agent, phase[env])
			if err != nil {
				return err
			}
			row = append(row, interval(first, 0)+", "+interval(second, 0))
		}
		rows = append(rows, row)
	}
	s.table(head, rows)
	for _, env := range s.Meta.Environments {
		figure, err := plots.NewFigure(s.Summary, env, result.Reward, plots.Config{Smooth: 1,
			Title:  fmt.Sprintf("%s: reward of a step, mean over %d steps and %d runs", env, s.Meta.Grid[0], s.Meta.Runs),
			Agents: slices.DeleteFunc(slices.Clone(drawn[env]), func(a string) bool { return !slices.Contains(s.Meta.Agents, a) }),
		})
		if err != nil {
			return err
		}
		best, err := s.gain(env)
		if err != nil {
			return err
		}
		figure.Levels = []plots.Level{{Label: "optimum", Y: best}}
		part := strings.ToLower(env)
		if len(s.Meta.Environments) == 1 {
			part = ""
		}
		if err := s.figure(part, figure); err != nil {
			return err
		}
	}
	return nil
}

// phases returns the total rewards of the first two phases of a length.
func (s *study) phases(env, agent string, long int) (first, second result.Estimate, err error) {
	runs, err := s.curves(env, agent, result.CumulativeReward)
	if err != nil {
		return first, second, err
	}
	one, err := s.at(long)
	if err != nil {
		return first, second, err
	}
	two, err := s.at(2 * long)
	if err != nil {
		return first, second, err
	}
	var a, b []float64
	for _, c := range runs {
		a, b = append(a, c[one]), append(b, c[two]-c[one])
	}
	return result.EstimateMean(a), result.EstimateMean(b), nil
}

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/rlrun/rlrun/framework/report"
	"github.com/rlrun/rlrun/framework/result"
)

// uniform is the agent whose reward counts as nothing.
const uniform = "uniform"

// leaderboard prints what share of the way from uniformly random to optimal reward
// agents get over whole runs, learning included, and their ranks, and draws the
// distribution of the scores of the first eight.
func leaderboard(s *study) error {
	var agents []string
	for _, a := range s.Meta.Agents {
		if a != uniform {
			agents = append(agents, a)
		}
	}
	// scores[e][a][r] is the score of a run.
	scores := make([][][]float64, len(s.Meta.Environments))
	for e, env := range s.Meta.Environments {
		zero, err := s.row(env, uniform, result.Reward)
		if err != nil {
			return err
		}
		one, err := s.gain(env)
		if err != nil {
			return err
		}
		if !(one > zero.Mean) {
			return fmt.Errorf("uniform reaches the optimum of %s", env)
		}
		for _, agent := range agents {
			row, err := s.row(env, agent, result.Reward)
			if err != nil {
				return err
			}
			runs := make([]float64, len(row.Values))
			for k, v := range row.Values {
				runs[k] = (v - zero.Mean) / (one - zero.Mean)
			}
			scores[e] = append(scores[e], runs)
		}
	}
	low, mean, high := ranks(scores, rand.New(rand.NewPCG(s.Meta.Seed, 0)))
	order := make([]int, len(agents))
	for a := range order {
		order[a] = a
	}
	slices.SortFunc(order, func(a, b int) int {
		if mean[a] < mean[b] {
			return -1
		}
		return 1
	})
	fmt.Fprintf(s.w, "Reward over the whole run of %d steps, learning included, as a share in percent of the way from uniformly random (0) to optimal (100), %d runs, ± half of the 95 %% interval; the mean rank over the tasks with its 95 %% bootstrap interval:\n\n", s.Meta.Steps, s.Meta.Runs)
	head := append([]string{"agent", "mean rank"}, s.Meta.Environments...)
	var rows [][]string
	for _, a := range order {
		row := []string{agents[a], fmt.Sprintf("%.1f [%.1f, %.1f]", mean[a], low[a], high[a])}
		for e := range scores {
			row = append(row, interval(scaled(result.EstimateMean(scores[e][a]), 100), 1))
		}
		rows = append(rows, row)
	}
	s.table(head, rows)
	figure := &report.Figure{Title: "Share of runs with at least a score, mean over tasks", XLabel: "score, percent", YLabel: "share of runs"}
	for _, a := range order[:min(8, len(order))] {
		line := report.Line{Label: agents[a]}
		for x := range 101 {
			line.X, line.Y = append(line.X, float64(x)), append(line.Y, atLeast(scores, a, float64(x)/100))
		}
		figure.Lines = append(figure.Lines, line)
	}
	return s.figure("", figure)
}

// atLeast returns the share of an agent's runs with a score of x or more, the mean
// over tasks: the performance profile of Agarwal et al. (2021).
func atLeast(scores [][][]float64, agent int, x float64) float64 {
	share := 0.0
	for _, task := range scores {
		for _, v := range task[agent] {
			if v >= x {
				share += 1 / float64(len(task[agent])*len(scores))
			}
		}
	}
	return share
}

// ranks returns the mean rank of every agent over the tasks, 1 being the best, and
// the 95 % interval of a bootstrap over runs.
func ranks(scores [][][]float64, rng *rand.Rand) (low, mean, high []float64) {
	const resamples = 2000
	runs := len(scores[0][0])
	all := make([]int, runs)
	for r := range all {
		all[r] = r
	}
	mean = meanRanks(scores, all)
	drawn := make([][]float64, len(mean))
	for range resamples {
		for r := range all {
			all[r] = rng.IntN(runs)
		}
		for a, x := range meanRanks(scores, all) {
			drawn[a] = append(drawn[a], x)
		}
	}
	for a := range drawn {
		slices.Sort(drawn[a])
		low, high = append(low, quantile(drawn[a], 0.025)), append(high, quantile(drawn[a], 0.975))
	}
	return low, mean, high
}

// meanRanks ranks agents by their mean score over some runs, task by task. Equal
// ones share their ranks' mean.
func meanRanks(scores [][][]float64, runs []int) []float64 {
	out := make([]float64, len(scores[0]))
	for _, task := range scores {
		means := make([]float64, len(task))
		for a, xs := range task {
			for _, r := range runs {
				means[a] += xs[r]
			}
		}
		for a, m := range means {
			rank := 1.0
			for b, other := range means {
				switch {
				case other > m:
					rank++
				case other == m && a != b:
					rank += 0.5
				}
			}
			out[a] += rank / float64(len(scores))
		}
	}
	return out
}

package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/rlrun/rlrun/framework/output/plots"
	"github.com/rlrun/rlrun/framework/result"
)

// uniform is the agent whose reward counts as nothing.
const uniform = "uniform"

// literature are agents as others have proposed them, and contenders those of ours that
// might be somebody's default, by their names in the configs.
var (
	literature = []string{
		"ε-greedy Q-learning", "optimistic Q-learning", "softmax Q-learning", "εz-greedy Q-learning", "SARSA", "Dyna-Q", "Dyna-Q+",
		"Bayesian Q-learning, VPI", "PSRL, α = 0.1", "best of 5, α = 0.1", "BOSS, α = 0.1", "UCRL2, widths × 1", "UCRL2, widths × 0.1",
		"UCBVI, widths × 1", "UCBVI, widths × 0.1", "MBIE-EB", "R-MAX", "E³",
	}
	contenders = []string{"optimistic model", "greedy, optimistic posterior", "greedy, optimistic models", "Algorithm 1, optimistic posterior"}
)

// leaderboard prints the scores of agents, and draws the distribution of those of the
// first eight.
func leaderboard(s *study) error {
	agents, scores, err := s.scores()
	if err != nil {
		return err
	}
	order := s.ranking(agents, scores)
	s.against(literature, agents, scores)
	figure := &plots.Figure{Title: "Share of runs with at least a score, mean over tasks", XLabel: "score, percent", YLabel: "share of runs"}
	for _, a := range order[:min(8, len(order))] {
		line := plots.Line{Label: agents[a]}
		for x := range 101 {
			line.X, line.Y = append(line.X, float64(x)), append(line.Y, atLeast(scores, a, float64(x)/100))
		}
		figure.Lines = append(figure.Lines, line)
	}
	return s.figure("", figure)
}

// leaderboardScores prints the scores alone.
func leaderboardScores(s *study) error {
	agents, scores, err := s.scores()
	if err != nil {
		return err
	}
	s.ranking(agents, scores)
	s.against(literature, agents, scores)
	return nil
}

// leaderboardTuned prints how our defaults compare with the best of all others, which
// have several settings each.
func leaderboardTuned(s *study) error {
	agents, scores, err := s.scores()
	if err != nil {
		return err
	}
	s.against(slices.DeleteFunc(slices.Clone(agents), func(a string) bool { return slices.Contains(contenders, a) }), agents, scores)
	return nil
}

// leaderboardCliff prints the returns of episodes, beside what the other leaderboards
// score, in a task where the two differ.
func leaderboardCliff(s *study) error {
	env := s.Meta.Environments[0]
	zero, err := s.row(env, uniform, result.Reward)
	if err != nil {
		return err
	}
	one, err := s.gain(env)
	if err != nil {
		return err
	}
	type entry struct {
		runs     int // in which an episode ended
		episodes float64
		cells    []string
	}
	var entries []entry
	for _, agent := range s.Meta.Agents {
		reward, err := s.row(env, agent, result.Reward)
		if err != nil {
			return err
		}
		x := entry{cells: []string{agent, "none ended", fmt.Sprintf("%.1f", 100*(reward.Mean-zero.Mean)/(one-zero.Mean))}}
		if r := s.Row(env, agent, result.EpisodeReturn); r != nil && r.N > 0 {
			x.runs, x.episodes, x.cells[1] = len(r.Values), r.Mean, fmt.Sprintf("%.1f", r.Mean)
			if x.runs > 1 {
				x.cells[1] = interval(r.Estimate, 1)
			}
			if x.runs < s.Meta.Runs {
				x.cells[1] += fmt.Sprintf(", in %d of %d runs", x.runs, s.Meta.Runs)
			}
		}
		entries = append(entries, x)
	}
	slices.SortStableFunc(entries, func(x, y entry) int {
		return cmp.Or(cmp.Compare(min(y.runs, 1), min(x.runs, 1)), cmp.Compare(y.episodes, x.episodes))
	})
	fmt.Fprintf(s.w, "The table shows the return of an episode: the mean over runs of %d steps, %d runs, ± half of the 95 %% interval. If not all runs ended an episode, the number of runs that did is given. The last column is the score by reward of the other tables:\n\n", s.Meta.Steps, s.Meta.Runs)
	var rows [][]string
	for _, x := range entries {
		rows = append(rows, x.cells)
	}
	s.table([]string{"agent", "return of an episode", "score by reward"}, rows)
	return nil
}

// scores returns what share of the way from uniformly random to optimal reward agents get
// over whole runs, learning included: their names, and the scores of task, agent and
// run.
func (s *study) scores() (agents []string, scores [][][]float64, err error) {
	for _, a := range s.Meta.Agents {
		if a != uniform {
			agents = append(agents, a)
		}
	}
	scores = make([][][]float64, len(s.Meta.Environments))
	for e, env := range s.Meta.Environments {
		zero, err := s.row(env, uniform, result.Reward)
		if err != nil {
			return nil, nil, err
		}
		one, err := s.gain(env)
		if err != nil {
			return nil, nil, err
		}
		if !(one > zero.Mean) {
			return nil, nil, fmt.Errorf("uniform reaches the optimum of %s", env)
		}
		for _, agent := range agents {
			row, err := s.row(env, agent, result.Reward)
			if err != nil {
				return nil, nil, err
			}
			runs := make([]float64, len(row.Values))
			for k, v := range row.Values {
				runs[k] = (v - zero.Mean) / (one - zero.Mean)
			}
			scores[e] = append(scores[e], runs)
		}
	}
	return agents, scores, nil
}

// ranking prints scores and mean ranks. It returns the agents by rank.
func (s *study) ranking(agents []string, scores [][][]float64) (order []int) {
	low, mean, high := ranks(scores, rand.New(rand.NewPCG(s.Meta.Seed, 0)))
	order = make([]int, len(agents))
	for a := range order {
		order[a] = a
	}
	slices.SortFunc(order, func(a, b int) int {
		if mean[a] < mean[b] {
			return -1
		}
		return 1
	})
	fmt.Fprintf(s.w, "The table shows the reward over the whole run of %d steps, learning included, in percent of the way from uniformly random (0) to optimal (100). It is a mean of %d runs, ± half of the 95 %% interval. It also has the mean rank over the tasks with its 95 %% bootstrap interval:\n\n", s.Meta.Steps, s.Meta.Runs)
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
	return order
}

// against prints, for each task, the best of the literature's agents and the difference
// of each contender from it. Differences are taken run by run, since all agents of a run
// meet the same draws.
func (s *study) against(literature, agents []string, scores [][][]float64) {
	index := func(names []string) (found []int) {
		for _, name := range names {
			if a := slices.Index(agents, name); a >= 0 {
				found = append(found, a)
			}
		}
		return found
	}
	others, ours := index(literature), index(contenders)
	if len(others) == 0 || len(ours) == 0 {
		return
	}
	head := []string{"task", "best of the literature"}
	for _, a := range ours {
		head = append(head, agents[a])
	}
	var rows [][]string
	for e, task := range scores {
		best := slices.MaxFunc(others, func(a, b int) int { return cmp.Compare(stat.Mean(task[a], nil), stat.Mean(task[b], nil)) })
		row := []string{s.Meta.Environments[e], agents[best] + ", " + interval(scaled(result.EstimateMean(task[best]), 100), 1)}
		for _, a := range ours {
			more := make([]float64, len(task[a]))
			for r := range more {
				more[r] = task[a][r] - task[best][r]
			}
			d := scaled(result.EstimateMean(more), 100)
			cell := strings.Replace(fmt.Sprintf("%+.2f ± %.2f", d.Mean, (d.High-d.Low)/2), "-", "−", 1)
			switch {
			case d.Low > 0:
				cell += " ▲"
			case d.High < 0:
				cell += " ▼"
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	fmt.Fprintf(s.w, "The table shows the best of the literature's agents on each task. For others it shows the paired lead over it in points, ± half of the 95 %% interval. ▲ and ▼ mark intervals without zero:\n\n")
	s.table(head, rows)
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

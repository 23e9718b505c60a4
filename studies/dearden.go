package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework/output/plots"
	"github.com/rlrun/rlrun/framework/result"
)

// published are figures from the literature, total reward by phases as printed,
// read at second hand and not verified in the originals.
var published = []struct {
	agent  string
	phases [3]string
}{
	{"semi-uniform Q-learning (Strens 2000) [unverified]", [3]string{"1594 ± 2, 1597 ± 2", "337 ± 2, 392 ± 1", ""}},
	{"Boltzmann Q-learning (Dearden et al. 1998) [unverified]", [3]string{"1606 ± 26, 1623 ± 67", "186 ± 1, 200 ± 1", "195 ± 20, 1024 ± 29"}},
	{"IEQL+ (Dearden et al. 1998) [unverified]", [3]string{"2344 ± 78, 2557 ± 90", "264 ± 1, 293 ± 1", "269 ± 1, 253 ± 3"}},
	{"Bayesian Q-learning, VPI and mixture (Dearden et al. 1998) [unverified]", [3]string{"1697 ± 112, 2417 ± 217", "326 ± 31, 340 ± 31", "818 ± 29, 1100 ± 29"}},
	{"Bayesian DP, that is PSRL (Strens 2000) [unverified]", [3]string{"3158 ± 31, 3611 ± 27", "377 ± 1, 397 ± 0", ""}},
	{"Heuristic DP (Strens 2000) [unverified]", [3]string{"2855 ± 29, 3450 ± 25", "", ""}},
	{"BEETLE, tied model (Poupart et al. 2006) [unverified]", [3]string{"3650 ± 41", "", ""}},
	{"BEETLE, semi-tied model (Poupart et al. 2006) [unverified]", [3]string{"3648 ± 41", "", ""}},
	{"BEETLE, full model (Poupart et al. 2006) [unverified]", [3]string{"1754 ± 42", "", ""}},
	{"exploit (Poupart et al. 2006) [unverified]", [3]string{"3078 ± 49", "", ""}},
	{"BAMCP (Guez et al. 2012) [unverified]", [3]string{"", "388 ± 2", "965 ± 73"}},
	{"BFS3 (Guez et al. 2012) [unverified]", [3]string{"", "382 ± 2", ""}},
	{"SBOSS (Guez et al. 2012) [unverified]", [3]string{"", "372 ± 3", ""}},
	{"BEB (Guez et al. 2012) [unverified]", [3]string{"", "386 ± 0", ""}},
}

// phase is how long the phases of each task are, and their column of published.
var phase = map[string]struct{ long, column int }{"Chain": {1000, 0}, "DoubleLoop": {1000, 1}, "Maze": {20000, 2}}

// drawn are the agents in the figures of each task, if they take part: one of every
// kind.
var drawn = map[string][]string{
	"Chain":      {"Algorithm 2 on 10 models", "sampling on 10 models", "optimistic model", "greedy, optimistic posterior", "MBIE-EB, β = 0.1", "R-MAX, m = 15", "Bayesian Q-learning, VPI and mixture"},
	"DoubleLoop": {"Algorithm 2 on 10 models", "sampling on 10 models", "optimistic model", "Algorithm 2 on 10 models, T ≤ 20", "MBIE-EB, β = 0.1", "R-MAX, m = 15", "Bayesian Q-learning, VPI and mixture"},
	"Maze": {"Algorithm 2 on 10 models", "Algorithm 1 on 10 models", "sampling on 10 models", "greedy, optimistic posterior",
		"optimistic model", "MBIE-EB, β = 0.1", "MBIE-EB, β = 0.03", "R-MAX, m = 5", "Bayesian Q-learning, VPI and mixture, prior 0 ± 10", "ε-greedy Q-learning", "ε-greedy Dyna-Q"},
}

// dearden prints the reward of two phases beside the published figures, and draws
// the reward of a step over time.
func dearden(s *study) error {
	fmt.Fprintf(s.w, "Total reward of the first and second phase, %d runs, ± half of the 95 %% interval; of published figures ± as printed there:\n\n", s.Meta.Runs)
	head := []string{"agent"}
	for _, env := range s.Meta.Environments {
		if phase[env].long == 0 {
			return fmt.Errorf("the phases of %s are not known", env)
		}
		head = append(head, fmt.Sprintf("%s, phases of %d steps", env, phase[env].long))
	}
	var rows [][]string
	for _, agent := range s.Meta.Agents {
		row := []string{agent}
		for _, env := range s.Meta.Environments {
			first, second, err := s.phases(env, agent, phase[env].long)
			if err != nil {
				return err
			}
			row = append(row, interval(first, 0)+", "+interval(second, 0))
		}
		rows = append(rows, row)
	}
	for _, p := range published {
		row, known := []string{p.agent}, false
		for _, env := range s.Meta.Environments {
			f := p.phases[phase[env].column]
			if known = known || f != ""; f == "" {
				f = "–"
			}
			row = append(row, f)
		}
		if known {
			rows = append(rows, row)
		}
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

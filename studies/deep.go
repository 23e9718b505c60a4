package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework/output/plots"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/stat"
)

// deepStudy is an experiment of networks in DeepSea: dives that cost little, much or nearly all of
// the treasure, in a sea with a treasure and in one without.
type deepStudy struct {
	size, episodes int
	runs, seed     int
	ways           []deepWay
}

// deepStudies are these experiments by name.
var deepStudies = map[string]deepStudy{
	"deep-development": {8, 200, 8, 7001, deepCandidates(8 * 200)},
	"deep-50":          {8, 50, 30, 9001, deepWays(8 * 50)},
	"deep":             {8, 200, 30, 9001, deepWays(8 * 200)},
	"deep-800":         {8, 800, 10, 9001, deepWays(8 * 800)},
}

// deepCosts are what a dive to the treasure, or to where it would be, costs.
var deepCosts = []float64{0.01, 0.3, 0.9}

// deepWay is an agent with a network.
type deepWay struct {
	name, plugin        string
	params, exploration map[string]any // exploration nil: it explores on its own
}

// ensemble is deep-bootstrap-q with ten members, small batches and an update a step, since updates
// take nearly all processor time.
func ensemble(name string, prior any, exploration map[string]any) deepWay {
	return deepWay{name, "deep-bootstrap-q", map[string]any{"members": 10, "batch": 64, "updates": 1, "prior": prior}, exploration}
}

// dithering is deep-q with a schedule of ε.
func dithering(behaviour string, epsilon float64, decay, steps int) deepWay {
	name := fmt.Sprintf("ε to %v in %d %%", epsilon, decay)
	if behaviour == "z" {
		name = "εz to" + strings.TrimPrefix(name, "ε to")
	}
	return deepWay{name, "deep-q", map[string]any{"batch": 64, "behaviour": behaviour, "epsilon": epsilon, "decay": decay * steps / 100}, nil}
}

// deepWays are the ways that are compared with each other: the one that was expected to be best, and
// the best of two kinds of others in development, in runs of so many steps.
func deepWays(steps int) []deepWay {
	return []deepWay{
		ensemble("{}", []float64{5}, map[string]any{}),
		ensemble("a member per episode", []float64{5}, nil),
		dithering("epsilon", 0.05, 40, steps),
	}
}

// deepCandidates are the ways that were compared in development, in runs of so many steps.
func deepCandidates(steps int) []deepWay {
	spread := []float64{0.5, 1, 2, 5}
	ways := []deepWay{
		ensemble("a member per episode", []float64{5}, nil),
		ensemble("a member per episode, priors 0.5 to 5", spread, nil),
		ensemble("{}", []float64{5}, map[string]any{}),
		ensemble("{}, priors 0.5 to 5", spread, map[string]any{}),
	}
	drawn := map[string]any{"rule": "optimistic-stochastic", "options": []string{"drawn-member"}}
	best := map[string]any{"rule": "common-model", "bound": "V", "options": []string{"members"}}
	ways = append(ways,
		ensemble("Algorithm 2, a drawn member", []float64{5}, drawn),
		ensemble("Algorithm 2, a drawn member, priors 0.5 to 5", spread, drawn),
		ensemble("threshold, best of the members", []float64{5}, best),
		ensemble("threshold, best of the members, priors 0.5 to 5", spread, best),
	)
	for _, behaviour := range []string{"epsilon", "z"} {
		for _, decay := range []int{10, 40} {
			ways = append(ways, dithering(behaviour, 0.05, decay, steps))
		}
	}
	return ways
}

// deepTask is the name of a sea.
func deepTask(cost float64, empty bool) string {
	if empty {
		return fmt.Sprintf("cost %v, empty", cost)
	}
	return fmt.Sprintf("cost %v", cost)
}

// writeDeep writes the config of a study of networks, and returns its path.
func writeDeep(name string) (string, error) {
	x := deepStudies[name]
	var tasks []task
	for _, cost := range deepCosts {
		for _, empty := range []bool{false, true} {
			tasks = append(tasks, task{name: deepTask(cost, empty), environment: map[string]any{"plugin": "deepsea",
				"params": map[string]any{"size": x.size, "mapped": true, "cost": cost, "empty": empty}}})
		}
	}
	var agents []map[string]any
	for _, w := range x.ways {
		a := map[string]any{"name": w.name, "plugin": w.plugin, "params": w.params}
		if w.exploration != nil {
			a["exploration"] = w.exploration
		}
		agents = append(agents, a)
	}
	return writeExperiment(name, "Networks in DeepSea, by the cost of a dive.", x.runs, tasks, agents, "exploration_share")
}

// deepBoard prints of each agent the total reward by the cost of a dive, the mean of the sea with
// a treasure and of the one without, then by how much the first agent is above each other one.
func deepBoard(s *study) error {
	x := deepStudies[s.name]
	totals := make([][][]float64, len(x.ways)) // by cost and run
	shares := make([]float64, len(x.ways))
	for a, w := range x.ways {
		for _, cost := range deepCosts {
			runs := make([]float64, s.Meta.Runs)
			for _, empty := range []bool{false, true} {
				env := deepTask(cost, empty)
				if _, err := s.curves(env, w.name, result.Reward); err != nil { // reads the records
					return err
				}
				for _, r := range s.records[[2]string{env, w.name}] {
					runs[r.Run] += s.total(r) / 2
				}
				if w.exploration != nil {
					e, err := s.last(env, w.name, result.ExplorationShare)
					if err != nil {
						return err
					}
					shares[a] += e.Mean / float64(2*len(deepCosts))
				}
			}
			totals[a] = append(totals[a], runs)
		}
	}
	fmt.Fprintf(s.w, "DeepSea %d, %d episodes, %d runs. Total reward, the mean of the sea with a treasure and of the one without, ± half of the 95 %% interval:\n\n", x.size, x.episodes, s.Meta.Runs)
	head, optimal := []string{"agent"}, []string{"optimal"}
	for _, cost := range deepCosts {
		head = append(head, fmt.Sprintf("cost %v", cost))
		optimal = append(optimal, fmt.Sprintf("%.1f", (1-cost)*float64(x.episodes)/2))
	}
	var rows, differences [][]string
	var tests []stat.TTest
	for a, w := range x.ways {
		row := []string{w.name}
		for c, runs := range totals[a] {
			row = append(row, reward(stratified(stat.Scores{runs})))
			if a > 0 {
				by := make([]float64, len(runs))
				for r := range runs {
					by[r] = totals[0][c][r] - runs[r]
				}
				tests = append(tests, stratified(stat.Scores{by}))
			}
		}
		share := ""
		if w.exploration != nil {
			share = fmt.Sprintf("%.0f %%", 100*shares[a])
		}
		rows = append(rows, append(row, share))
	}
	s.table(append(slices.Clone(head), "exploratory steps"), append(rows, append(optimal, "")))
	if s.name == "deep-development" {
		return nil
	}
	ps := make([]float64, len(tests))
	for i, t := range tests {
		ps[i] = t.P
	}
	ps = stat.Holm(ps)
	for a, w := range x.ways[1:] {
		row := []string{x.ways[0].name + " less " + w.name}
		for c := range deepCosts {
			i := a*len(deepCosts) + c
			row = append(row, fmt.Sprintf("%s (p = %.2g)", reward(tests[i]), ps[i]))
		}
		differences = append(differences, row)
	}
	fmt.Fprint(s.w, "Differences in the same runs, p by the t test after Holm's correction over the table:\n\n")
	s.table(head, differences)
	return s.figure("", s.deepFigure(x, 0.3))
}

// deepFigure draws the total reward so far at a cost, the mean of both seas.
func (s *study) deepFigure(x deepStudy, cost float64) *plots.Figure {
	figure := &plots.Figure{Title: fmt.Sprintf("DeepSea %d, a dive costs %v: total reward so far, %d runs, 95 %% bands", x.size, cost, s.Meta.Runs), XLabel: "episodes", YLabel: "total reward"}
	for _, w := range x.ways {
		line := plots.Line{Label: w.name}
		totals := make([]float64, s.Meta.Runs)
		before := 0
		for k, t := range s.Meta.Grid {
			for _, empty := range []bool{false, true} {
				for _, r := range s.records[[2]string{deepTask(cost, empty), w.name}] {
					totals[r.Run] += r.Curves[result.Reward][k] * float64(t-before) / 2
				}
			}
			before = t
			e := result.EstimateMean(totals)
			line.X, line.Y = append(line.X, float64(t)/float64(x.size)), append(line.Y, e.Mean)
			line.Low, line.High = append(line.Low, e.Low), append(line.High, e.High)
		}
		figure.Lines = append(figure.Lines, line)
	}
	return figure
}

// reward writes a mean and half of its interval.
func reward(t stat.TTest) string {
	return strings.ReplaceAll(fmt.Sprintf("%.1f ± %.1f", t.Value, (t.High-t.Low)/2), "-", "−")
}

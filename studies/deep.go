package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework/output/plots"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/stat"
)

// deepStudy is an experiment of networks.
type deepStudy struct {
	what              string // is in the tables, before "N runs"
	steps, runs, seed int
	measure           string // what a run's value is
	perEpisode        bool   // it is the return per episode, and not the total reward
	cells             func() ([]deepCell, error)
	decimals          int // of values in the tables
	ways              []deepWay
	figure, title     string // the cell that is drawn, and the title
	length            int    // of all episodes, 0 if they differ: the figure then counts steps
}

// deepCell is a column of the tables. The value of a run is its mean over the tasks.
type deepCell struct {
	name  string
	tasks []task
	scale scale // its values 0 and 1, for sums over cells
}

// deepStudies are these experiments by name.
var deepStudies = map[string]deepStudy{
	"deep-development": deepSeas(8, 200, 8, 7001, deepCandidates(8*200)),
	"deep-50":          deepSeas(8, 50, 30, 9001, deepWays(8*50)),
	"deep":             deepSeas(8, 200, 30, 9001, deepWays(8*200)),
	"deep-800":         deepSeas(8, 800, 10, 9001, deepWays(8*800)),
	"deep-10":          deepSeas(10, 200, 30, 9002, deepWays(10*200)),
	"deep-14":          deepSeas(14, 200, 10, 9002, deepWays(14*200)),
	"deep-pits-500":    deepGrids(500, 30),
	"deep-pits":        deepGrids(2000, 30),
	"deep-cartpole": {
		what: "CartPole, 10,000 steps", steps: 10_000, runs: 30, seed: 9002, measure: "Return per episode", perEpisode: true,
		cells:    oneCell("return", "cartpole", scale{0, 500}), // an episode has at most 500 steps, each worth 1
		decimals: 1, ways: deepWays(10_000),
	},
	"deep-swingup": {
		what: "Cartpole swing-up, 10,000 steps", steps: 10_000, runs: 6, seed: 9002, measure: "Total reward",
		// Two of the three random actions are pushes, which cost 0.1. A step is worth at most 1.
		cells: oneCell("reward", "cartpole-swingup", scale{-10_000 * 0.1 * 2 / 3, 10_000}), decimals: 1, ways: deepWays(10_000),
	},
}

// deepSeas is a study of dives that cost little, much or nearly all of the treasure, in a sea with a
// treasure and in one without.
func deepSeas(size, episodes, runs, seed int, ways []deepWay) deepStudy {
	cells := func() (cells []deepCell, err error) {
		for _, cost := range []float64{0.01, 0.3, 0.9} {
			c := deepCell{name: fmt.Sprintf("cost %v", cost)}
			for _, empty := range []bool{false, true} {
				name := c.name
				if empty {
					name += ", empty"
				}
				c.tasks = append(c.tasks, task{name: name, environment: map[string]any{"plugin": "deepsea",
					"params": map[string]any{"size": size, "mapped": true, "cost": cost, "empty": empty}}})
			}
			// At random half of the moves are to the right, and one of 2ᴺ episodes finds the treasure.
			n := float64(episodes)
			c.scale = scale{n * (math.Exp2(-float64(size))/2 - cost/2), n * (1 - cost) / 2}
			cells = append(cells, c)
		}
		return cells, nil
	}
	return deepStudy{
		what: fmt.Sprintf("DeepSea %d, %d episodes", size, episodes), steps: size * episodes, runs: runs, seed: seed,
		measure: "Total reward, the mean of the sea with a treasure and of the one without", cells: cells, decimals: 1, ways: ways,
		figure: "cost 0.3", title: fmt.Sprintf("DeepSea %d, a dive costs 0.3", size), length: size,
	}
}

// oneCell is a study of one task.
func oneCell(name, plugin string, s scale) func() ([]deepCell, error) {
	return func() ([]deepCell, error) {
		return []deepCell{{name, []task{{name: name, environment: map[string]any{"plugin": plugin, "params": map[string]any{}}}}, s}}, nil
	}
}

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

// writeDeep writes the config of a study of networks, and returns its path.
func writeDeep(name string) (string, error) {
	x := deepStudies[name]
	cells, err := x.cells()
	if err != nil {
		return "", err
	}
	var tasks []task
	for _, c := range cells {
		tasks = append(tasks, c.tasks...)
	}
	var agents []map[string]any
	for _, w := range x.ways {
		a := map[string]any{"name": w.name, "plugin": w.plugin, "params": w.params}
		if w.exploration != nil {
			a["exploration"] = w.exploration
		}
		agents = append(agents, a)
	}
	return writeExperiment(name, "Networks: "+x.what+".", x.runs, tasks, agents, "exploration_share")
}

// values returns the cells of an experiment, and the value of each run by agent, cell and run.
func (s *study) values(x deepStudy) (cells []deepCell, values [][][]float64, err error) {
	if cells, err = x.cells(); err != nil {
		return nil, nil, err
	}
	values = make([][][]float64, len(x.ways))
	for a, w := range x.ways {
		for _, c := range cells {
			runs := make([]float64, s.Meta.Runs)
			for _, t := range c.tasks {
				if _, err := s.curves(t.name, w.name, result.Reward); err != nil { // reads the records
					return nil, nil, err
				}
				records := s.records[[2]string{t.name, w.name}]
				if len(records) != s.Meta.Runs {
					return nil, nil, fmt.Errorf("%s, %s: there are %d of %d runs: go run -C studies . %s", t.name, w.name, len(records), s.Meta.Runs, s.name)
				}
				for _, r := range records {
					v := s.total(r)
					if x.perEpisode {
						v /= float64(max(1, r.Episodes))
					}
					runs[r.Run] += v / float64(len(c.tasks))
				}
			}
			values[a] = append(values[a], runs)
		}
	}
	return cells, values, nil
}

// deepBoard prints the values of each agent by cell, then by how much the first agent is above each
// other one.
func deepBoard(s *study) error {
	x := deepStudies[s.name]
	cells, values, err := s.values(x)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.w, "%s, %d runs. %s, ± half of the 95 %% interval:\n\n", x.what, s.Meta.Runs, x.measure)
	head, optimal := []string{"agent"}, []string{"optimal"}
	for _, c := range cells {
		head = append(head, c.name)
		optimal = append(optimal, fmt.Sprintf("%.*f", x.decimals, c.scale.one))
	}
	var rows, differences [][]string
	var tests []stat.TTest
	for a, w := range x.ways {
		row := []string{w.name}
		share, count := 0.0, 0
		for c, runs := range values[a] {
			row = append(row, reward(stratified(stat.Scores{runs}), x.decimals))
			if a > 0 {
				tests = append(tests, stratified(minus(stat.Scores{values[0][c]}, stat.Scores{runs})))
			}
			if w.exploration == nil {
				continue
			}
			for _, t := range cells[c].tasks {
				e, err := s.last(t.name, w.name, result.ExplorationShare)
				if err != nil {
					return err
				}
				share += e.Mean
				count++
			}
		}
		explored := ""
		if count > 0 {
			explored = fmt.Sprintf("%.0f %%", 100*share/float64(count))
		}
		rows = append(rows, append(row, explored))
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
		for c := range cells {
			i := a*len(cells) + c
			row = append(row, fmt.Sprintf("%s (p = %.2g)", reward(tests[i], x.decimals), ps[i]))
		}
		differences = append(differences, row)
	}
	fmt.Fprint(s.w, "Differences in the same runs, p by the t test after Holm's correction over the table:\n\n")
	s.table(head, differences)
	if x.figure == "" {
		return nil
	}
	return s.figure("", s.deepFigure(x, cells))
}

// deepBarOf are the studies over whose cells the bar is, in their order.
var deepBarOf = []string{"deep-10", "deep-pits-500", "deep-pits", "deep-cartpole", "deep-swingup", "deep-14"}

// deepBar prints the values of all cells of the studies that have results. Random actions have 0, and an optimal
// agent has 1. Then it says whether the first agent passes. It passes if the sum of its values is above those of
// both others, and if each of its values is at least 90 % of the better one of theirs.
func deepBar() error {
	type column struct {
		name   string
		values stat.Scores // by agent and run
	}
	var columns []column
	var ways []deepWay
	for _, name := range deepBarOf {
		dir := filepath.Join("results", name)
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		s, err := load(name, dir, os.Stdout)
		if err != nil {
			return err
		}
		x := deepStudies[name]
		cells, values, err := s.values(x)
		if err != nil {
			return err
		}
		ways = x.ways
		for c, cell := range cells {
			scores := make(stat.Scores, len(ways))
			for a := range ways {
				for _, v := range values[a][c] {
					scores[a] = append(scores[a], cell.scale.score(v))
				}
			}
			columns = append(columns, column{fmt.Sprintf("%s: %s", x.what, cell.name), scores})
		}
	}
	if len(columns) == 0 {
		return errors.New("there are no results")
	}
	head := []string{"cell"}
	for _, w := range ways {
		head = append(head, w.name)
	}
	var rows [][]string
	sums := make([]float64, len(ways))
	differences := make([]stat.Scores, len(ways)) // of the first agent and another, by cell and run
	var below []string
	for _, c := range columns {
		row := []string{c.name}
		var means []float64
		for a, runs := range c.values {
			mean := stat.Mean(runs)
			means = append(means, mean)
			sums[a] += mean
			row = append(row, strings.ReplaceAll(fmt.Sprintf("%.3f", mean), "-", "−"))
			differences[a] = append(differences[a], minus(c.values[:1], stat.Scores{runs})[0])
		}
		if !enough(means[0], slices.Max(means[1:])) {
			below = append(below, c.name)
			row[1] += " (below)"
		}
		rows = append(rows, row)
	}
	last := []string{"sum"}
	for a := range ways {
		last = append(last, strings.ReplaceAll(fmt.Sprintf("%.2f", sums[a]), "-", "−"))
	}
	s := &study{w: os.Stdout}
	s.table(head, append(rows, last))
	ps := make([]float64, 0, len(ways)-1)
	var tests []stat.TTest
	for a := range ways[1:] {
		t := stratified(differences[a+1])
		tests, ps = append(tests, t), append(ps, t.P)
	}
	ps = stat.Holm(ps)
	passes := len(below) == 0
	for a, t := range tests {
		n := float64(len(columns))
		t.Value, t.Low, t.High = n*t.Value, n*t.Low, n*t.High
		fmt.Printf("The sum of %s less that of %s is %s (p = %.2g after Holm's correction).\n", ways[0].name, ways[a+1].name, reward(t, 2), ps[a])
		passes = passes && sums[0] > sums[a+1]
	}
	fmt.Printf("%d of %d cells are below 90 %% of the better. The bar is passed: %v.\n", len(below), len(columns), passes)
	return nil
}

// enough says whether a value is at least 90 % of the better of others. If that is negative, it is the least.
func enough(value, better float64) bool { return value >= min(0.9*better, better) }

// deepFigure draws the total reward so far in a cell, the mean over its tasks.
func (s *study) deepFigure(x deepStudy, cells []deepCell) *plots.Figure {
	cell := cells[slices.IndexFunc(cells, func(c deepCell) bool { return c.name == x.figure })]
	xs := "steps"
	if x.length > 0 {
		xs = "episodes"
	}
	figure := &plots.Figure{Title: fmt.Sprintf("%s: total reward so far, %d runs, 95 %% bands", x.title, s.Meta.Runs), XLabel: xs, YLabel: "total reward"}
	for _, w := range x.ways {
		line := plots.Line{Label: w.name}
		totals := make([]float64, s.Meta.Runs)
		before := 0
		for k, t := range s.Meta.Grid {
			for _, task := range cell.tasks {
				for _, r := range s.records[[2]string{task.name, w.name}] {
					totals[r.Run] += r.Curves[result.Reward][k] * float64(t-before) / float64(len(cell.tasks))
				}
			}
			before = t
			e := result.EstimateMean(totals)
			line.X, line.Y = append(line.X, float64(t)/float64(max(1, x.length))), append(line.Y, e.Mean)
			line.Low, line.High = append(line.Low, e.Low), append(line.High, e.High)
		}
		figure.Lines = append(figure.Lines, line)
	}
	return figure
}

// reward writes a mean and half of its interval.
func reward(t stat.TTest, decimals int) string {
	return strings.ReplaceAll(fmt.Sprintf("%.*f ± %.*f", decimals, t.Value, decimals, (t.High-t.Low)/2), "-", "−")
}

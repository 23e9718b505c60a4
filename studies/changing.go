package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// changingSteps is the length of a run.
const changingSteps = 6000

// changingTask is a task that changes: its models, and after how many steps each but the first follows,
// or the hazard.
type changingTask struct {
	name   string
	models []*mdp.Tabular
	steps  []int
	hazard float64
}

// changingHalves are the tasks by study. Those of changing-development may be looked at while an agent is
// changed. Those of changing are run when the changes are made.
var changingHalves = map[string]func() []changingTask{
	"changing-development": func() []changingTask {
		half := []int{changingSteps / 2}
		return []changingTask{
			{name: "blocked way", models: mazes("11111111.", ".11111111"), steps: half},
			{name: "river swaps its ends", models: []*mdp.Tabular{swim(6, false), swim(6, true)}, steps: half},
			{name: "another Garnet", models: garnets(10, 3, 1, 2), steps: half},
			{name: "arms swap", models: []*mdp.Tabular{armsOf(0.9, 0.5, 0.3, 0.1), armsOf(0.1, 0.3, 0.5, 0.9)}, steps: half},
			{name: "no change", models: []*mdp.Tabular{swim(6, false)}},
		}
	},
	"changing": func() []changingTask {
		half := []int{changingSteps / 2}
		return []changingTask{
			{name: "shortcut", models: mazes(".11111111", ".1111111."), steps: half},
			{name: "narrow ways", models: mazes("1111.1111", "111111.11"), steps: []int{2000}},
			{name: "longer river", models: []*mdp.Tabular{swim(9, true), swim(9, false)}, steps: half},
			{name: "Garnets in turn", models: garnets(20, 4, 11, 12, 13), steps: []int{2000, 4000}},
			{name: "some rows of a Garnet", models: partly(15, 3, 21), steps: half},
			{name: "better arm", models: []*mdp.Tabular{armsOf(0.6, 0.2, 0.2, 0.2, 0.2), armsOf(0.6, 0.2, 0.9, 0.2, 0.2)}, steps: half},
			{name: "two rivers at random", models: []*mdp.Tabular{swim(6, false), swim(6, true)}, hazard: 0.001},
			{name: "ways at random", models: mazes("11111111.", ".11111111", "1111.1111"), hazard: 0.0005},
			{name: "Garnet without change", models: garnets(15, 3, 31)},
			{name: "maze without change", models: mazes("111.11111")},
		}
	},
}

// changingAgents are who meets them.
var changingAgents = []map[string]any{
	{"name": "threshold model", "plugin": "threshold-model"},
	{"name": "threshold model, hazard 0.001", "plugin": "threshold-model", "params": map[string]any{"hazard": 0.001}},
	{"name": "threshold model, no change", "plugin": "threshold-model", "params": map[string]any{"hazard": 0}},
	{"name": "Dyna-Q+", "plugin": "dyna-q", "params": map[string]any{"kappa": 0.001}},
	{"name": "MBIE-EB", "plugin": "mbie-eb"},
	{"name": "optimistic model", "plugin": "optimistic-model"},
	{"name": "PSRL", "plugin": "psrl"},
}

// model panics if a constant task is wrong.
func model[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// mazes are Sutton & Barto's (2018, §8.3) with 6 × 9 cells: from below to the goal in the corner above through
// the openings "." of a wall. The goal pays 1 and leads back. A wall is a state that nothing leads to.
func mazes(walls ...string) (models []*mdp.Tabular) {
	const rows, cols, start = 6, 9, 5*9 + 3
	for _, wall := range walls {
		open := func(r, c int) bool { return r >= 0 && r < rows && c >= 0 && c < cols && (r != 3 || wall[c] == '.') }
		models = append(models, model(mdp.Generate(mdp.Definition{States: rows * cols, Actions: 4, Initial: []mdp.Weight{{S: start, P: 1}}}, func(s, a int, row *mdp.Row) {
			r, c := s/cols, s%cols
			if r == 0 && c == cols-1 {
				row.AddRewarded(start, 1, 1)
				return
			}
			move := [][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}}[a]
			if y, x := r+move[0], c+move[1]; open(y, x) {
				r, c = y, x
			}
			row.Add(r*cols+c, 1)
		})))
	}
	return models
}

// swim is RiverSwim, or with its ends swapped: the current goes to the other end. A swimmer begins in the middle.
func swim(n int, swapped bool) *mdp.Tabular {
	m := model(catalog.RiverSwim(n)).Model
	at := func(s int) int {
		if swapped {
			return n - 1 - s
		}
		return s
	}
	return model(mdp.Generate(mdp.Definition{States: n, Actions: 2, Initial: []mdp.Weight{{S: n / 2, P: 1}}}, func(s, a int, row *mdp.Row) {
		if swapped {
			a = 1 - a
		}
		next, p := m.Transition(at(s), a)
		for k, y := range next {
			row.AddRewarded(at(int(y)), p[k], m.Reward(at(s), a))
		}
	}))
}

func garnets(states, actions int, seeds ...uint64) (models []*mdp.Tabular) {
	for _, s := range seeds {
		models = append(models, model(catalog.Garnet(states, actions, 3, s)).Model)
	}
	return models
}

// partly returns a Garnet, and the same with the pairs of a third of its states drawn anew.
func partly(states, actions int, s uint64) []*mdp.Tabular {
	two := garnets(states, actions, s, s+1)
	rng := rand.New(rand.NewPCG(s, 0))
	drawn := map[int]bool{}
	for _, y := range rng.Perm(states)[:states/3] {
		drawn[y] = true
	}
	return []*mdp.Tabular{two[0], model(mdp.Generate(mdp.Definition{States: states, Actions: actions}, func(s, a int, row *mdp.Row) {
		m := two[0]
		if drawn[s] {
			m = two[1]
		}
		next, p := m.Transition(s, a)
		for k, y := range next {
			row.AddRewarded(int(y), p[k], m.Reward(s, a))
		}
	}))}
}

// armsOf is a bandit with Bernoulli rewards.
func armsOf(means ...float64) *mdp.Tabular {
	return model(mdp.Generate(mdp.Definition{States: 1, Actions: len(means)}, func(_, a int, row *mdp.Row) {
		row.AddRewarded(0, 1, means[a])
		row.Noise = mdp.Noise{Bernoulli: true}
	}))
}

// writeChanging writes the models and the config of a study of tasks that change, and returns its path.
func writeChanging(name string) (string, error) {
	dir := modelsDir(name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	var environments []map[string]any
	for _, t := range changingHalves[name]() {
		var files []string
		for k, m := range t.models {
			file := filepath.ToSlash(filepath.Join(dir, fmt.Sprintf("%s-%d.json", strings.ReplaceAll(t.name, " ", "-"), k+1)))
			raw, err := json.Marshal(m)
			if err != nil {
				return "", err
			}
			if err := os.WriteFile(filepath.FromSlash(file), raw, 0o644); err != nil {
				return "", err
			}
			files = append(files, file)
		}
		params := map[string]any{"file": files[0]}
		switch {
		case t.hazard > 0:
			params["schedule"] = map[string]any{"files": files[1:], "hazard": t.hazard}
		case len(files) > 1:
			params["schedule"] = map[string]any{"files": files[1:], "steps": t.steps}
		}
		environments = append(environments, map[string]any{"name": t.name, "plugin": "model", "params": params})
	}
	raw, err := json.MarshalIndent(map[string]any{ // JSON is YAML
		"name": name, "description": "Agents on tasks that change.", "seed": 1, "runs": 20, "steps": changingSteps,
		"environments": environments, "agents": changingAgents,
		"record": map[string]any{"grid": "every", "every": changingSteps / 12, "metrics": []string{"reward", "regret"}},
		"output": filepath.ToSlash(filepath.Join("results", name)),
	}, "", "  ")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "experiment.yaml")
	return path, os.WriteFile(path, raw, 0o644)
}

// changingBoard prints the reward and the dynamic regret of agents on tasks that change.
func changingBoard(s *study) error {
	part := func(env, agent string, from, to int) (result.Estimate, error) { // of the twelfths of a run
		runs, err := s.curves(env, agent, result.Reward)
		if err != nil {
			return result.Estimate{}, err
		}
		var means []float64
		for _, run := range runs {
			sum := 0.0
			for _, x := range run[from:to] {
				sum += x / float64(to-from)
			}
			means = append(means, sum)
		}
		return result.EstimateMean(means), nil
	}
	head := append([]string{"task"}, s.Meta.Agents...)
	for _, x := range []struct {
		text     string
		from, to int
	}{{"the sixth of the run before its middle", 4, 6}, {"the last sixth", 10, 12}} {
		fmt.Fprintf(s.w, "Mean reward per step in %s. Runs have %d steps, %d runs, half of the 95 %% interval (t).\n\n", x.text, s.Meta.Steps, s.Meta.Runs)
		var rows [][]string
		for _, env := range s.Meta.Environments {
			row := []string{env}
			for _, agent := range s.Meta.Agents {
				e, err := part(env, agent, x.from, x.to)
				if err != nil {
					return err
				}
				row = append(row, interval(e, 3))
			}
			rows = append(rows, row)
		}
		s.table(head, rows)
	}
	fmt.Fprintf(s.w, "Dynamic regret of the first agent, and by how much that of the others exceeds it, paired by run.\n\n")
	var rows [][]string
	for _, env := range s.Meta.Environments {
		final, err := s.final(env, s.Meta.Agents[0], result.Regret)
		if err != nil {
			return err
		}
		r := result.EstimateMean(slices.Sorted(maps.Values(final)))
		row := []string{env, fmt.Sprintf("%.0f ± %.0f", r.Mean, (r.High-r.Low)/2)}
		for _, agent := range s.Meta.Agents[1:] {
			d, err := s.difference(env, agent, s.Meta.Agents[0])
			if err != nil {
				return err
			}
			row = append(row, fmt.Sprintf("%+.0f ± %.0f", d.Mean, (d.High-d.Low)/2))
		}
		rows = append(rows, row)
	}
	s.table(head, rows)
	return nil
}

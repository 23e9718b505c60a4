package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/rltest"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
)

// constantly plays an environment with one action and returns the curves of one run, a point a step.
func constantly(t *testing.T, env, params string, action int64, steps, run int) map[result.Metric][]float64 {
	t.Helper()
	e := must.Get(bundled(env).OpenEnvironment(t.Context(), json.RawMessage(params), 1))(t)
	a := must.Get(vector.VectorizeAgent(func(uint64) (framework.Agent, error) { return always(action), nil }, e.Spec(), 1))(t)
	return must.Get(loop.Run(t.Context(), loop.Batch{
		Environment: e, Agent: a, Runs: []int{run}, Seeds: seed.NewSource(1, e.Spec().ID), Steps: steps, Grid: everyStep(steps),
		Discount: 1, Metrics: []result.Metric{result.Reward, result.Regret, result.OptimalAction},
	}))(t)[0].Curves
}

// Without noise an arm pays its mean. So agents that always pull one arm show the means at every step, as all
// meet the same world. Regret is against the largest of that step, and so are optimal actions.
func TestRegretOfBanditsThatChange(t *testing.T) {
	const arms, steps = 3, 400
	for _, params := range []string{`"drift":0.1`, `"hazard":0.02`, `"drift":0.05,"hazard":0.01`} {
		params = `{"arms":3,"noise":0,` + params + `}`
		var curves [arms]map[result.Metric][]float64
		for k := range curves {
			curves[k] = constantly(t, "gaussian-bandit", params, int64(k), steps, 5)
		}
		want, moved := 0.0, 0
		for s := range steps {
			r := [arms]float64{}
			for k := range r {
				r[k] = curves[k][result.Reward][s]
			}
			best := max(r[0], r[1], r[2])
			want += best - r[0]
			optimal := 0.0
			if r[0] == best {
				optimal = 1
			}
			if got := curves[0][result.Regret][s]; math.Abs(got-want) > 1e-9 || curves[0][result.OptimalAction][s] != optimal {
				t.Fatalf("%s, step %d: regret %v and optimal %v, want %v and %v", params, s+1, got, curves[0][result.OptimalAction][s], want, optimal)
			}
			if s > 0 && r[0] != curves[0][result.Reward][s-1] {
				moved++
			}
		}
		if moved == 0 || want == 0 {
			t.Errorf("%s: the mean moved %d times, regret %v", params, moved, want)
		}
	}
}

// A mean moves as a random walk of the given step. In 25 pulls with drift 0.01 the expected square of the
// distance is 25·0.01² = 0.0025. The mean over 60 runs has a standard error of √(2/60) = 18 %. Means of
// Bernoulli arms stay in [0,1] however fast they drift.
func TestDrift(t *testing.T) {
	square := 0.0
	for run := range 60 {
		c := constantly(t, "gaussian-bandit", `{"arms":1,"noise":0,"drift":0.01}`, 0, 26, run)[result.Reward]
		square += (c[25] - c[0]) * (c[25] - c[0]) / 60
	}
	if square < 0.001 || square > 0.0045 {
		t.Errorf("mean square %v", square)
	}
	c := constantly(t, "bernoulli-bandit", `{"arms":2,"drift":3}`, 0, 500, 1)
	for s, r := range c[result.Regret] {
		if r < 0 || r > float64(s+1) {
			t.Fatalf("regret %v after %d pulls", r, s+1)
		}
	}
}

// swap writes three models and returns their names in JSON. The first two have two states and two actions:
// one pays 1 for a stay in state 0, the other 3 for a stay in state 1. The third has one state.
func swap(t *testing.T) (files [3]string) {
	t.Helper()
	dir := t.TempDir()
	for k, model := range []string{
		`{"S":2,"A":2,"transitions":[[0,0,0,1],[0,1,1,1],[1,0,1,1],[1,1,0,1]],"rewards":[[0,0,1]]}`,
		`{"S":2,"A":2,"transitions":[[0,0,0,1],[0,1,1,1],[1,0,1,1],[1,1,0,1]],"rewards":[[1,0,3]]}`,
		`{"S":1,"A":2,"transitions":[[0,0,0,1],[0,1,0,1]],"rewards":[[0,0,1]]}`,
	} {
		path := filepath.Join(dir, fmt.Sprintf("m%d.json", k))
		must.Do(t, os.WriteFile(path, []byte(model), 0o666))
		files[k] = string(must.Get(json.Marshal(path))(t))
	}
	return files
}

// The schedule is that of the run. Staying in state 0 earns 1 a step in the first model, which is the best there, and nothing in the
// second, where 3 a step is the best.
func TestScheduleOfModels(t *testing.T) {
	f := swap(t)
	params := fmt.Sprintf(`{"file":%s,"schedule":{"files":[%s,%s],"steps":[4,7]}}`, f[0], f[1], f[0])
	c := constantly(t, "model", params, 0, 9, 0)
	if got, want := fmt.Sprint(c[result.Reward], c[result.Regret]), "[1 1 1 1 0 0 0 1 1] [0 0 0 0 3 6 9 9 9]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if c[result.OptimalAction] != nil {
		t.Errorf("optimal actions %v of a task with two states", c[result.OptimalAction])
	}
	must.Do(t, rltest.CheckPlugin(t.Context(), bundled("model"), json.RawMessage(params)))
	// The ends of episodes change nothing.
	e := must.Get(bundled("model").OpenEnvironment(t.Context(), json.RawMessage(fmt.Sprintf(`{"file":%s,"limit":3,"schedule":{"files":[%s],"steps":[4]}}`, f[0], f[1])), 1))(t)
	in, out := vector.NewActions(e.Spec(), 1), vector.NewTimeSteps(e.Spec(), 1)
	in.Signals[0] = vector.NewRun
	paid := ""
	for range 9 {
		must.Do(t, e.Step(t.Context(), in, &out))
		if in.Signals[0] == vector.Continue {
			paid += fmt.Sprint(out.Rewards[0])
		}
		if in.Signals[0] = vector.Continue; out.Truncated[0] {
			in.Signals[0] = vector.NewEpisode
		}
	}
	if paid != "111100" {
		t.Errorf("paid %s", paid)
	}
}

// Episodes end in the terminal state whichever model is in force, and the schedule counts the steps of the run. In the first model action 0
// stays and pays 1. From step 3 on it pays 4 and ends the episode. Regret is not known where episodes end.
func TestScheduleOfModelsWhoseEpisodesEnd(t *testing.T) {
	var files [2]string
	for k, model := range []string{
		`{"S":2,"A":1,"transitions":[[0,0,0,1]],"rewards":[[0,0,1]],"terminal":[1]}`,
		`{"S":2,"A":1,"transitions":[[0,0,1,1]],"rewards":[[0,0,4]],"terminal":[1]}`,
	} {
		path := filepath.Join(t.TempDir(), fmt.Sprintf("m%d.json", k))
		must.Do(t, os.WriteFile(path, []byte(model), 0o666))
		files[k] = string(must.Get(json.Marshal(path))(t))
	}
	params := fmt.Sprintf(`{"file":%s,"schedule":{"files":[%s,%s],"steps":[3,5]}}`, files[0], files[1], files[0])
	c := constantly(t, "model", params, 0, 8, 0)
	if got, want := fmt.Sprint(c[result.Reward]), "[1 1 1 4 4 1 1 1]"; got != want || c[result.Regret] != nil {
		t.Errorf("rewards %s, want %s; regret %v", got, want, c[result.Regret])
	}
	e := must.Get(bundled("model").OpenEnvironment(t.Context(), json.RawMessage(params), 1))(t)
	in, out := vector.NewActions(e.Spec(), 1), vector.NewTimeSteps(e.Spec(), 1)
	in.Signals[0] = vector.NewRun
	ends := ""
	for range 11 {
		must.Do(t, e.Step(t.Context(), in, &out))
		if in.Signals[0] == vector.Continue {
			ends += fmt.Sprint(out.Terminated[0], " ")
		}
		if in.Signals[0] = vector.Continue; out.Terminated[0] {
			in.Signals[0] = vector.NewEpisode
		}
	}
	if want := "false false false true true false false false "; ends != want {
		t.Errorf("ends %s, want %s", ends, want)
	}
	must.Do(t, rltest.CheckPlugin(t.Context(), bundled("model"), json.RawMessage(params)))
}

// Changes at random come at the rate that was asked for, and do not depend on what an agent does. Over 40 runs of 500 steps at a rate of
// 0.05 there are 1,000 changes, with a standard deviation of 31.
func TestChangesAtRandom(t *testing.T) {
	f := swap(t)
	params := fmt.Sprintf(`{"file":%s,"schedule":{"files":[%s],"hazard":0.05}}`, f[0], f[1])
	changes := 0
	for run := range 40 {
		stays := constantly(t, "model", params, 0, 500, run)
		moves := constantly(t, "model", params, 1, 500, run)
		second := false
		for s, r := range stays[result.Reward] {
			owed := moves[result.Regret][s]
			if s > 0 {
				owed -= moves[result.Regret][s-1]
			}
			if is := r == 0; is != (owed == 3) {
				t.Fatalf("run %d, step %d: the two agents meet different models", run, s+1)
			} else if is != second {
				second = is
				changes++
			}
		}
	}
	if changes < 850 || changes > 1150 {
		t.Errorf("%d changes", changes)
	}
}

// Schedules that cannot be met are refused before anything runs.
func TestBadChangesAreRefused(t *testing.T) {
	f := swap(t)
	file := func(schedule string) string { return fmt.Sprintf(`{"file":%s,"schedule":{%s}}`, f[0], schedule) }
	named := func(name, actions string) string {
		path := filepath.Join(t.TempDir(), name)
		must.Do(t, os.WriteFile(path, []byte(`{"S":1,"A":2,"actions":`+actions+`,"transitions":[[0,0,0,1],[0,1,0,1]]}`), 0o666))
		return string(must.Get(json.Marshal(path))(t))
	}
	other := func(name, model string) string {
		path := filepath.Join(t.TempDir(), name)
		must.Do(t, os.WriteFile(path, []byte(model), 0o666))
		return string(must.Get(json.Marshal(path))(t))
	}
	short := other("short.json", `{"S":2,"A":2,"episode_steps":7,"transitions":[[0,0,0,1],[0,1,1,1],[1,0,1,1],[1,1,0,1]],"rewards":[[1,0,3]]}`)
	ragged := other("ragged.json", `{"S":2,"A":2,"transitions":[[0,1,1,1],[1,0,1,1],[1,1,0,1]],"rewards":[[1,0,3]]}`)
	must.Get(bundled("model").OpenEnvironment(t.Context(), json.RawMessage(fmt.Sprintf(`{"file":%s,"limit":9,"schedule":{"files":[%s],"steps":[5]}}`, f[0], short)), 1))(t)
	for _, x := range []struct{ env, params, want string }{
		{"model", file(`"files":[` + short + `],"steps":[5]`), "episode_steps is 7, and 0 in the model of file"},
		{"model", file(`"files":[` + ragged + `],"steps":[5]`), "state 0 has action 0 in this model or in the first one, and not in both"},
		{"model", file(`"files":[` + f[2] + `],"steps":[5]`), "schedule: model 2: it has 1 states and 2 actions, and the first has 2 and 2"},
		{"model", `{"file":` + named("x.json", `["left","right"]`) + `,"schedule":{"files":[` + named("y.json", `["right","left"]`) + `],"steps":[5]}}`, `model 2: action 0 is called "right", and "left" in the first`},
		{"model", file(`"files":[` + f[0] + `],"steps":[5]`), "model 2 equals model 1"},
		{"model", file(`"files":[` + f[1] + `,` + f[1] + `],"steps":[5,6]`), "model 3 equals model 2"},
		{"model", file(`"files":[` + f[1] + `,` + f[0] + `],"hazard":0.1`), "model 3 equals model 1"},
		{"model", file(`"files":[` + f[1] + `,` + f[0] + `],"steps":[5,5]`), "steps must increase"},
		{"model", file(`"files":[` + f[1] + `],"steps":[0]`), "steps[0] is 0, must be at least 1"},
		{"model", file(`"files":[` + f[1] + `]`), "steps has 0 entries for 1 files"},
		{"model", file(`"files":[` + f[1] + `],"steps":[5],"hazard":0.1`), "has no effect"},
		{"model", file(`"files":[` + f[1] + `],"hazard":1`), "hazard"},
		{"model", file(`"files":[` + f[1] + `],"hazard":0`), "hazard"},
		{"model", file(`"files":["nowhere.json"],"steps":[5]`), "schedule.files[0]"},
		{"model", file(`"steps":[5]`), "files"},
		{"bernoulli-bandit", `{"hazard":1.5}`, "hazard"},
		{"bernoulli-bandit", `{"drift":0}`, "drift"},
		{"bernoulli-bandit", `{"means":[0.1,0.2],"hazard":0.1}`, "has no effect"},
		{"gaussian-bandit", `{"prior":{"sd":0},"hazard":0.1}`, "hazard has no effect"},
	} {
		_, err := bundled(x.env).OpenEnvironment(t.Context(), json.RawMessage(x.params), 1)
		if !errors.Is(err, framework.ErrInvalidParams) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", x.params, err, x.want)
		}
	}
}

// If two arms swap their means half-way, policies on beliefs that forget follow, and those on beliefs that do not lose at least twice as much. In 5
// runs of 4,000 pulls the regret can be 0.8 per pull. Seeds are fixed.
func TestForgettingPoliciesFollowChanges(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for k, r := range []string{"[[0,0,0.9],[0,1,0.1]]", "[[0,0,0.1],[0,1,0.9]]"} {
		path := filepath.Join(dir, fmt.Sprint(k))
		must.Do(t, os.WriteFile(path, []byte(`{"S":1,"A":2,"transitions":[[0,0,0,1],[0,1,0,1]],"rewards":`+r+`,"bernoulli":[[0,0],[0,1]]}`), 0o666))
		files = append(files, string(must.Get(json.Marshal(path))(t)))
	}
	env := fmt.Sprintf(`{"file":%s,"schedule":{"files":[%s],"steps":[2000]}}`, files[0], files[1])
	regret := func(policy string) float64 {
		return agenttest.Plugins(All()).Earns(t, "model", env, "bandit", policy, 5, 2000, 4000, result.Regret)
	}
	for _, x := range [][2]string{
		{`{"policy":{"kind":"thompson"},"belief":{"kind":"beta"}}`, `{"policy":{"kind":"thompson"},"belief":{"kind":"forgetting"}}`},
		{`{"policy":{"kind":"optimistic"},"belief":{"kind":"beta"}}`, `{"policy":{"kind":"optimistic"},"belief":{"kind":"forgetting"}}`},
	} {
		keeps, forgets := regret(x[0]), regret(x[1])
		if t.Logf("%s: %.0f, %s: %.0f", x[0], keeps, x[1], forgets); forgets > keeps/2 {
			t.Errorf("regret %.0f of %s, and %.0f of %s", keeps, x[0], forgets, x[1])
		}
	}
}

// RiverSwim turns round half-way: its ends and its current are swapped. The agent that believes that tasks change finds the other end, and then earns at
// least three quarters of the best reward, 0.4286, in all four runs. The one that does not stays where it was, at 0.005 at best.
func TestThresholdModelRecovers(t *testing.T) {
	dir := t.TempDir()
	m := must.Get(catalog.RiverSwim(6))(t).Model
	turned := must.Get(mdp.Generate(mdp.Definition{States: 6, Actions: 2}, func(s, a int, row *mdp.Row) {
		next, p := m.Transition(5-s, 1-a)
		for k, y := range next {
			row.AddRewarded(5-int(y), p[k], m.Reward(5-s, 1-a))
		}
	}))(t)
	var files []string
	for k, x := range []*mdp.Tabular{m, turned} {
		path := filepath.Join(dir, fmt.Sprint(k))
		must.Do(t, os.WriteFile(path, must.Get(json.Marshal(x))(t), 0o666))
		files = append(files, string(must.Get(json.Marshal(path))(t)))
	}
	env := fmt.Sprintf(`{"file":%s,"schedule":{"files":[%s],"steps":[2500]}}`, files[0], files[1])
	for params, least := range map[string]float64{`{"gamma":0.9998}`: 0.32, `{"gamma":0.9998,"hazard":0}`: 0} {
		for run, o := range agenttest.Plugins(All()).Play(t, "model", env, "threshold-model", params, 0, 4, 5000, []int{2500, 4000, 5000}, result.Reward) {
			before, after := o.Curves[result.Reward][0], o.Curves[result.Reward][2]
			if t.Logf("%s, run %d: %.3f before and %.3f after", params, run, before, after); before < 0.25 || after < least || least == 0 && after > 0.01 {
				t.Errorf("%s, run %d earns %.3f before the change, and %.3f at the end", params, run, before, after)
			}
		}
	}
}

// always takes one action.
type always int64

func (a always) SelectAction(context.Context, space.Value) (space.Value, error) {
	return space.Value{Int: int64(a)}, nil
}
func (always) Update(context.Context, framework.Transition) error { return nil }

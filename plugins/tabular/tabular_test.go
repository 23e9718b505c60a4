package tabular

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

func open(t *testing.T, name, raw string, n int) *lanes {
	t.Helper()
	for _, p := range Plugins() {
		d := must.Get(p.Describe(t.Context()))(t)
		if d.ID == "rlrun/"+name+"@1" {
			env := must.Get(p.OpenEnvironment(t.Context(), json.RawMessage(raw), n))(t)
			return env.(*lanes)
		}
	}
	t.Fatalf("no task %q", name)
	return nil
}

// every opens every task with its default parameters, and some in other variants.
func every(t *testing.T, n int) map[string]*lanes {
	t.Helper()
	all := map[string]*lanes{}
	for _, p := range Plugins() {
		d := must.Get(p.Describe(t.Context()))(t)
		env, err := p.OpenEnvironment(t.Context(), nil, n)
		if err != nil {
			t.Fatalf("%s: %v", d.ID, err)
		}
		all[d.ID] = env.(*lanes)
	}
	for name, variants := range map[string][]string{
		"riverswim": {`{"states":20}`}, "maze": {`{"goal":"teleport"}`, `{"goal":"absorbing"}`},
		"deepsea":    {`{"size":6,"stochastic":true,"mapped":true}`, `{"size":50,"continuing":true}`},
		"fourrooms":  {`{"continuing":true}`},
		"frozenlake": {`{"size":8}`},
		"gridworld":  {`{"map":["S.#.","..#.","....","#..G"],"slip":0.3,"step_reward":-0.1}`},
	} {
		for _, raw := range variants {
			all[name+" "+raw] = open(t, name, raw, n)
		}
	}
	return all
}

// Stepping an environment and walking its model, fed with the same stream, take
// the same draws.
func TestEnvironmentWalksItsModel(t *testing.T) {
	for id, env := range every(t, 1) {
		t.Run(id, func(t *testing.T) {
			actions, out := vector.NewActions(env.Spec(), 1), vector.NewTimeSteps(env.Spec(), 1)
			choose := rand.New(rand.NewPCG(1, 2))
			var walk *rand.Rand
			state, steps, episodes := 0, 0, 0
			for call := range 5000 {
				if call == 0 || out.Terminated[0] || out.Truncated[0] {
					actions.Signals[0], actions.Seeds[0] = vector.NewEpisode, uint64(episodes)
					walk = seed.Stream(uint64(episodes), seed.Environment)
					state, steps = env.model.Start(walk), 0
					episodes++
				} else {
					actions.Signals[0] = vector.Continue
					actions.Actions.Int64[0] = choose.Int64N(int64(env.model.NumActions()))
				}
				must.Do(t, env.Step(t.Context(), actions, &out))
				if actions.Signals[0] == vector.Continue {
					var reward float64
					state, reward = env.model.Step(state, int(actions.Actions.Int64[0]), walk)
					steps++
					if out.Rewards[0] != reward {
						t.Fatalf("call %d: reward %v, want %v", call, out.Rewards[0], reward)
					}
					if want := env.model.Terminal(state); out.Terminated[0] != want {
						t.Fatalf("call %d: terminated %t in state %d", call, !want, state)
					}
					if want := steps == env.limit && !out.Terminated[0]; out.Truncated[0] != want {
						t.Fatalf("call %d: truncated %t after %d of %d steps", call, !want, steps, env.limit)
					}
				}
				if out.Observations.Int64[0] != int64(state) {
					t.Fatalf("call %d: state %d, want %d", call, out.Observations.Int64[0], state)
				}
			}
			if want := 1 + 5000/(env.limit+2); env.limit > 0 && episodes < want {
				t.Errorf("%d episodes in 5000 steps, want at least %d with a limit of %d", episodes, want, env.limit)
			}
		})
	}
}

// The successors that the environment draws have the model's distribution. There is a
// chi-square test for each state and action seen at least 30 times, at a false alarm rate
// of 1e-4 for the whole task (Bonferroni). Seeds are fixed.
func TestSuccessorsHaveTheModelsDistribution(t *testing.T) {
	for id, env := range every(t, 1) {
		t.Run(id, func(t *testing.T) {
			states, n := env.model.NumStates(), env.model.NumActions()
			counts := make([]map[int32]float64, states*n)
			actions, out := vector.NewActions(env.Spec(), 1), vector.NewTimeSteps(env.Spec(), 1)
			choose := rand.New(rand.NewPCG(3, 4))
			actions.Signals[0] = vector.NewEpisode
			episodes, state := uint64(0), int64(0)
			for range 200_000 {
				must.Do(t, env.Step(t.Context(), actions, &out))
				if actions.Signals[0] == vector.Continue {
					i := int(state)*n + int(actions.Actions.Int64[0])
					if counts[i] == nil {
						counts[i] = map[int32]float64{}
					}
					counts[i][int32(out.Observations.Int64[0])]++
				}
				state = out.Observations.Int64[0]
				actions.Signals[0] = vector.Continue
				actions.Actions.Int64[0] = choose.Int64N(int64(n))
				if out.Terminated[0] || out.Truncated[0] {
					episodes++
					actions.Signals[0], actions.Seeds[0] = vector.NewEpisode, episodes
				}
			}
			tests := 0
			for _, c := range counts {
				if total(c) >= 30 {
					tests++
				}
			}
			if tests == 0 {
				t.Fatal("no state and action was seen often enough")
			}
			for i, c := range counts {
				m := total(c)
				if m < 30 {
					continue
				}
				next, prob := env.model.Transition(i/n, i%n)
				var observed, expected []float64
				seen := 0.0
				for k, s := range next {
					if e := m * prob[k]; e >= 5 {
						observed, expected = append(observed, c[s]), append(expected, e)
					}
					seen += c[s]
				}
				if seen != m {
					t.Fatalf("state %d, action %d: a successor that the model excludes", i/n, i%n)
				}
				if len(observed) < 2 {
					continue
				}
				p := distuv.ChiSquared{K: float64(len(observed) - 1)}.Survival(stat.ChiSquare(observed, expected))
				if p < 1e-4/float64(tests) {
					t.Errorf("state %d, action %d: %v, want about %v (p = %.2g)", i/n, i%n, observed, expected, p)
				}
			}
		})
	}
}

func total(c map[int32]float64) (n float64) {
	for _, x := range c {
		n += x
	}
	return n
}

func TestLaneRules(t *testing.T) {
	env := open(t, "frozenlake", `{"limit":3}`, 2)
	actions, out := vector.NewActions(env.Spec(), 2), vector.NewTimeSteps(env.Spec(), 2)
	actions.Signals[0] = vector.Idle
	actions.Signals[1] = vector.Continue
	var lane *vector.LaneError
	if err := env.Step(t.Context(), actions, &out); !errors.Is(err, framework.ErrNeedsReset) || !errors.As(err, &lane) || lane.Lane != 1 {
		t.Errorf("a step before the first reset: %v", err)
	}
	actions.Signals[1] = vector.NewEpisode
	must.Do(t, env.Step(t.Context(), actions, &out))
	actions.Signals[1] = vector.Continue
	actions.Actions.Int64[1] = 4
	if err := env.Step(t.Context(), actions, &out); !errors.Is(err, framework.ErrInvalidAction) {
		t.Errorf("action 4 of 4: %v", err)
	}
}

func TestParametersAreChecked(t *testing.T) {
	for _, tt := range []struct{ name, raw, want string }{
		{"riverswim", `{"states":1}`, "states is 1, must be in [2,1000000]"},
		{"riverswim", `{"stats":6}`, `"stats"`},
		{"riverswim", `{"limit":-1}`, "limit is -1"},
		{"maze", `{"goal":"x"}`, `goal is "x"`},
		{"frozenlake", `{"size":5}`, "size 4 and 8"},
		{"garnet", `{"branching":11}`, "branching 11"},
		{"garnet", `{"states":100000,"actions":1000,"branching":2}`, "too large"},
		{"gridworld", `{"rows":10000,"cols":10000}`, "at most 10000000 cells"},
		{"deepsea", `{"size":1}`, "size is 1, must be in [2,1000]"},
		{"gridworld", `{"slip":"a lot"}`, "slip"},
	} {
		for _, p := range Plugins() {
			if d, _ := p.Describe(t.Context()); d.ID != "rlrun/"+tt.name+"@1" {
				continue
			}
			if _, err := p.OpenEnvironment(t.Context(), json.RawMessage(tt.raw), 1); !errors.Is(err, framework.ErrInvalidParams) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s %s: got %v, want %q", tt.name, tt.raw, err, tt.want)
			}
		}
	}
}

package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/explore"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/rltest"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
	"github.com/rlrun/rlrun/options"
)

// TestMain lets the test binary be the plugin.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		main()
		return
	}
	os.Exit(m.Run())
}

// launch starts the plugin in a process of its own.
func launch(t *testing.T) vector.Plugin {
	t.Helper()
	p, err := plugin.Launch(t.Context(), plugin.LaunchConfig{Name: "bootstrap", Command: os.Args[0], Args: []string{"serve"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestConformance(t *testing.T) {
	for name, p := range map[string]vector.Plugin{
		"here": plugin.NewAgent(id, doc, defaults, newAgent), "in a process": launch(t),
	} {
		d, err := p.Describe(t.Context())
		if err != nil || !slices.Equal(d.Abilities, []string{"options"}) {
			t.Errorf("%s: abilities %v (%v)", name, d.Abilities, err)
		}
		if err := rltest.CheckPlugin(t.Context(), p, []byte(`{"members":3}`)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// river is RiverSwim.
type river struct {
	model *mdp.Tabular
	rng   *rand.Rand
	s     int
}

func (r *river) Spec() plugin.Spec {
	return plugin.Spec{
		ID: "test/river@1", Observation: plugin.Discrete{N: int64(r.model.NumStates())}, Action: plugin.Discrete{N: int64(r.model.NumActions())},
		RewardHigh: 1, Continuing: true,
	}
}

func (r *river) Reset(_ context.Context, s uint64) (plugin.Value, error) {
	r.rng, r.s = rand.New(rand.NewPCG(s, 0)), 0
	return plugin.Value{}, nil
}

func (r *river) Step(_ context.Context, action plugin.Value) (plugin.TimeStep, error) {
	next, reward := r.model.Step(r.s, int(action.Int), r.rng)
	r.s = next
	return plugin.TimeStep{Observation: plugin.Value{Int: int64(next)}, Reward: reward}, nil
}

// explored plays runs of RiverSwim in which the host decides, and returns what came
// of each, all its decisions included, as text.
func explored(t *testing.T, p vector.Plugin, runs ...int) []string {
	t.Helper()
	task, err := catalog.RiverSwim(6)
	if err != nil {
		t.Fatal(err)
	}
	env, err := vector.Vectorize(func() (framework.Environment, error) { return &river{model: task.Model}, nil }, len(runs))
	if err != nil {
		t.Fatal(err)
	}
	agent, err := p.OpenAgent(t.Context(), []byte(`{"gamma":0.9}`), env.Spec(), len(runs))
	if err != nil {
		t.Fatal(err)
	}
	const steps = 1000
	host, err := explore.New(t.Context(), agent.Abilities().Options, env.Spec(), len(runs), explore.Config{
		Decider: options.DeciderConfig{Rule: options.RuleCommonModel, Horizon: bandit.Discounted(0.9)}, Log: steps,
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := loop.Run(t.Context(), loop.Batch{
		Environment: env, Agent: host, Runs: runs, Seeds: seed.NewSource(1, env.Spec().ID), Steps: steps,
		Grid: loop.LogGrid(20, steps), Discount: 1, Metrics: []result.Metric{result.Reward, result.ExplorationShare, result.MixingTime},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Close(); err != nil {
		t.Error(err)
	}
	var text []string
	for _, o := range out {
		text = append(text, fmt.Sprintf("%+v", o))
	}
	return text
}

// A run is the same, decision by decision and bit for bit, whether its lane is alone
// or among four, in this process or in one of its own.
func TestDecisionsDoNotDependOnLanes(t *testing.T) {
	here, process := plugin.NewAgent(id, doc, defaults, newAgent), launch(t)
	want := explored(t, here, 0, 1, 2, 3)
	for _, option := range []string{"greedy", "member"} {
		if !strings.Contains(fmt.Sprint(want), "Option:"+option) {
			t.Errorf("no decision is for an option %s", option)
		}
	}
	if got := explored(t, process, 0, 1, 2, 3); !slices.Equal(got, want) {
		t.Errorf("in a process of its own\n%s\nhere\n%s", got, want)
	}
	for run := range want {
		for name, p := range map[string]vector.Plugin{"here": here, "in a process": process} {
			if got := explored(t, p, run); got[0] != want[run] {
				t.Errorf("%s, alone, run %d is\n%s\nwith others\n%s", name, run, got[0], want[run])
			}
		}
	}
}

// With one state and γ = 0 the values of actions equal those of a bandit's
// arms. So the decisions are the same, here by index and by Algorithm 1 of the
// paper.
func TestOneStateIsTheBandit(t *testing.T) {
	const arms, members, gamma = 4, 9, 0.9
	spec := plugin.Spec{ID: "test/bandit@1", Observation: plugin.Discrete{N: 1}, Action: plugin.Discrete{N: arms, Start: 2}, RewardLow: -1, RewardHigh: 1, Continuing: true}
	h, table := bandit.Discounted(gamma), bandit.NewIndexTable(bandit.V, 1-gamma, members)
	for _, tt := range []struct {
		rule options.DeciderConfig
		want func(arms []*bandit.Population, greedy int) int
	}{
		{options.DeciderConfig{Rule: options.RuleIndex, Bound: bandit.V, Horizon: h}, func(arms []*bandit.Population, greedy int) int {
			best := greedy
			for x := range arms {
				if table.Index(arms[x], spec.RewardLow) > table.Index(arms[best], spec.RewardLow)+1e-12 {
					best = x
				}
			}
			return best
		}},
		{options.DeciderConfig{Rule: options.RuleOptimistic, Horizon: h}, func(arms []*bandit.Population, greedy int) int {
			best, most := greedy, 0.0
			c := bandit.Comparison{Known: arms[greedy].Mean(), LowerBound: spec.RewardLow}
			for x := range arms {
				if _, advantage := bandit.BestDelta(arms[x], c, h.Share(1)); x != greedy && advantage > most+1e-12 {
					best, most = x, advantage
				}
			}
			return best
		}},
	} {
		t.Run(tt.rule.Rule.String(), func(t *testing.T) {
			var a *agent // of the run
			lanes, err := vector.VectorizeAgent(func(s uint64) (made framework.Agent, err error) {
				a, err = newAgent(params{Members: members, Step: 0.2}, spec, s)
				return a, err
			}, spec, 1)
			if err != nil {
				t.Fatal(err)
			}
			host, err := explore.New(t.Context(), lanes.Abilities().Options, spec, 1, explore.Config{Decider: tt.rule})
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(4, 4))
			in, actions := vector.NewFeedback(spec, 1), space.NewColumn(spec.Action, 1)
			in.Signals[0], in.Seeds[0] = vector.NewRun, 3
			explored := 0
			for step := range 100 {
				if err := host.Step(t.Context(), in, &actions); err != nil {
					t.Fatal(err)
				}
				populations, greedy := make([]*bandit.Population, arms), 0
				for x := range arms {
					values := make([]float64, members)
					for k := range members {
						values[k] = a.row(k, 0)[x]
					}
					if populations[x], err = bandit.NewPopulation(values, bandit.PopulationConfig{}); err != nil {
						t.Fatal(err)
					}
					if populations[x].Mean() > populations[greedy].Mean() {
						greedy = x
					}
				}
				got, want := int(actions.Int64[0]-2), tt.want(populations, greedy)
				if got != want || a.greedy(0) != greedy {
					t.Fatalf("step %d: action %d, the bandit's is %d; greedy %d, the bandit's is %d", step, got, want, a.greedy(0), greedy)
				}
				if got != greedy {
					explored++
				}
				in.Signals[0], in.Rewards[0] = vector.Continue, math.Tanh(rng.NormFloat64()+float64(got)/4)
			}
			if n, hold := host.Exploration(0); n != explored || hold != 1 || n == 0 || n == 100 {
				t.Errorf("explored %d of 100 steps, by the host's count %d with T = %d", explored, n, hold)
			}
		})
	}
}

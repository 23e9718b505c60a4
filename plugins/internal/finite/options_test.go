package finite_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/options"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
)

// optionAgents are the agents whose exploration the host may decide on.
var optionAgents = []string{"bootstrap-q", "bootstrap-model"}

// driver steps lanes of an option agent on finite and decides for them: random
// options at random epochs, from streams of the lane's own.
type driver struct {
	agent    vector.OptionAgent
	in       *vector.Feedback
	actions  space.Column
	epochs   []bool
	problems []options.Problem
	choices  []int
	rng      []*rand.Rand
	ended    []bool
	log      [][]int64 // by lane: states, actions, options
}

func newDriver(t *testing.T, name, params string, runs []uint64, kinds []options.Kind) *driver {
	t.Helper()
	n := len(runs)
	a := must.Get(agents().Find(t, name).OpenAgent(t.Context(), json.RawMessage(params), agenttest.Finite, n))(t)
	d := &driver{agent: a.Abilities().Options, in: vector.NewFeedback(agenttest.Finite, n), actions: space.NewColumn(agenttest.Finite.Action, n),
		epochs: make([]bool, n), problems: make([]options.Problem, n), choices: make([]int, n), ended: make([]bool, n), log: make([][]int64, n)}
	must.Do(t, d.agent.SetOptionKinds(t.Context(), kinds))
	for i, r := range runs {
		d.rng = append(d.rng, rand.New(rand.NewPCG(r, 1)))
		d.in.Signals[i], d.in.Seeds[i] = vector.NewRun, r
	}
	return d
}

func (d *driver) step(t *testing.T) {
	t.Helper()
	for i, rng := range d.rng {
		d.in.Observations.Int64[i] = 5 + rng.Int64N(3)
		d.in.Rewards[i] = rng.Float64()
		if d.in.Signals[i] == vector.Continue {
			d.in.Terminated[i], d.in.Truncated[i] = rng.IntN(10) == 0, rng.IntN(10) == 0
		}
		d.ended[i] = d.in.Terminated[i] || d.in.Truncated[i]
		d.epochs[i] = d.in.Signals[i] == vector.NewRun || !d.ended[i] && rng.IntN(4) == 0
		d.actions.Int64[i] = -1
	}
	must.Do(t, d.agent.StepOptions(t.Context(), d.in, d.epochs, &d.actions, d.problems))
	for i, rng := range d.rng {
		d.choices[i] = -1
		if !d.epochs[i] {
			continue
		}
		p := &d.problems[i]
		p.Hold = 1
		if err := p.Check(); err != nil || p.Arms[p.Greedy].Name != "greedy" {
			t.Fatalf("lane %d: %v, greedy option %v", i, err, p.Arms[p.Greedy])
		}
		if d.actions.Int64[i] != -1 {
			t.Fatalf("lane %d selects an action before an option was chosen", i)
		}
		d.choices[i] = rng.IntN(len(p.Arms))
	}
	must.Do(t, d.agent.Choose(t.Context(), d.choices, &d.actions))
	for i := range d.rng {
		d.log[i] = append(d.log[i], d.in.Observations.Int64[i], d.actions.Int64[i], int64(d.choices[i]))
		if a := d.actions.Int64[i]; a != 1 && a != 2 && !d.ended[i] {
			t.Fatalf("lane %d selects action %d", i, a)
		}
		d.in.Signals[i] = vector.Continue
		if d.ended[i] {
			d.in.Signals[i] = vector.NewEpisode
			d.in.Terminated[i], d.in.Truncated[i] = false, false
		}
	}
}

// everyKind is every kind of option.
var everyKind = []options.Kind{options.Members, options.Constants, options.Uniform, options.RecencyBonus, options.CountBonus, options.Deviations, options.Repeats}

// The behaviour of a lane depends on its run alone, whichever lanes are beside
// it and whenever they decide. A new run forgets the one before.
func TestOptionLanesAreIndependent(t *testing.T) {
	for _, name := range optionAgents {
		for _, params := range variants[name] {
			t.Run(name+params, func(t *testing.T) {
				together := newDriver(t, name, params, []uint64{3, 4, 5}, everyKind)
				for range 60 {
					together.step(t)
				}
				for i := range together.rng {
					together.in.Signals[i], together.in.Seeds[i], together.rng[i] = vector.NewRun, 3, rand.New(rand.NewPCG(3, 1))
				}
				for range 60 {
					together.step(t)
				}
				for i, r := range []uint64{3, 4, 5} {
					alone := newDriver(t, name, params, []uint64{r}, everyKind)
					for range 60 {
						alone.step(t)
					}
					if n := len(alone.log[0]); !slices.Equal(alone.log[0], together.log[i][:n]) {
						t.Errorf("run %d alone does something else", r)
					}
					if n := len(alone.log[0]); r == 3 && !slices.Equal(alone.log[0], together.log[2][n:]) {
						t.Error("a lane remembers an earlier run")
					}
				}
			})
		}
	}
}

// The policy reported is the one that the greedy option follows.
func TestGreedyPolicy(t *testing.T) {
	for _, name := range optionAgents {
		d := newDriver(t, name, ``, []uint64{1}, nil)
		for range 50 {
			d.step(t)
		}
		policy, err := d.agent.GreedyPolicy(t.Context(), 0, []int{9, 9, 9, 9, 9})
		if err != nil || len(policy) != 3 {
			t.Fatalf("%v, %v", policy, err)
		}
		d.in.Signals[0] = vector.NewEpisode
		for s := range 3 {
			d.in.Observations.Int64[0], d.epochs[0] = 5+int64(s), true
			must.Do(t, d.agent.StepOptions(t.Context(), d.in, d.epochs, &d.actions, d.problems))
			must.Do(t, d.agent.Choose(t.Context(), []int{d.problems[0].Greedy}, &d.actions))
			if got := int(d.actions.Int64[0]) - 1; got != policy[s] {
				t.Errorf("%s: in state %d action %d, by the policy %d", name, s, got, policy[s])
			}
		}
		if _, err := d.agent.GreedyPolicy(t.Context(), 1, nil); err == nil {
			t.Errorf("%s: there is no lane 1", name)
		}
	}
}

// A host that breaks the order of calls is told so.
func TestOptionLanesRefuse(t *testing.T) {
	for _, name := range optionAgents {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			d := newDriver(t, name, ``, []uint64{1, 2}, nil)
			d.step(t)
			lane := func(what string, err error, lane int, want error) {
				t.Helper()
				var e *vector.LaneError
				if !errors.Is(err, want) || !errors.As(err, &e) || e.Lane != lane {
					t.Errorf("%s: %v", what, err)
				}
			}
			if err := d.agent.SetOptionKinds(ctx, nil); !errors.Is(err, framework.ErrUnsupported) {
				t.Errorf("an offer after the first step: %v", err)
			}
			d.in.Signals[0], d.in.Signals[1] = vector.Continue, vector.Continue
			d.epochs[0], d.epochs[1] = false, true
			d.in.Terminated[1], d.in.Truncated[1] = false, false
			must.Do(t, d.agent.StepOptions(ctx, d.in, d.epochs, &d.actions, d.problems))
			lane("a choice without a decision", d.agent.Choose(ctx, []int{0, -1}, &d.actions), 0, framework.ErrInvalidAction)
			lane("no such option", d.agent.Choose(ctx, []int{-1, 99}, &d.actions), 1, framework.ErrInvalidAction)
			lane("a step before the choice", d.agent.Step(ctx, d.in, &d.actions), 1, framework.ErrNeedsReset)
			lane("an epoch before the choice", d.agent.StepOptions(ctx, d.in, d.epochs, &d.actions, d.problems), 1, framework.ErrNeedsReset)
			d.in.Observations.Int64[1] = 9
			lane("no such state", d.agent.StepOptions(ctx, d.in, d.epochs, &d.actions, d.problems), 1, framework.ErrInvalidAnswer)
			fresh := newDriver(t, name, ``, []uint64{1}, nil)
			fresh.in.Signals[0], fresh.in.Observations.Int64[0], fresh.epochs[0] = vector.NewEpisode, 5, true
			lane("an episode before the first run", fresh.agent.StepOptions(ctx, fresh.in, fresh.epochs, &fresh.actions, fresh.problems), 0, framework.ErrNeedsReset)
			none := must.Get(agents().Find(t, name).OpenAgent(ctx, nil, agenttest.Finite, 1))(t)
			fresh.in.Signals[0] = vector.NewRun
			lane("no offer", none.Abilities().Options.StepOptions(ctx, fresh.in, fresh.epochs, &fresh.actions, fresh.problems), 0, framework.ErrUnsupported)
			for _, bad := range [][]options.Kind{{nil}, {options.Members, options.Members}} {
				if err := none.Abilities().Options.SetOptionKinds(ctx, bad); !errors.Is(err, framework.ErrUnsupported) {
					t.Errorf("an offer of %v: %v", bad, err)
				}
			}
		})
	}
}

// An ensemble's decisions allocate nothing.
func TestOptionStepsDoNotAllocate(t *testing.T) {
	d := newDriver(t, "bootstrap-q", ``, []uint64{1, 2}, everyKind)
	for range 2000 {
		d.step(t)
	}
	for i := range d.log {
		d.log[i] = slices.Grow(d.log[i], 10_000)
	}
	if n := testing.AllocsPerRun(1000, func() { d.step(t) }); n != 0 {
		t.Errorf("%v allocations per step", n)
	}
}

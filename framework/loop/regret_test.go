package loop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// ferry goes to and fro between two banks, or waits, as its model says.
type ferry struct {
	model       *mdp.Tabular
	continuing  bool
	truncate    int // steps after which an episode is truncated
	bank, steps int
}

func (f *ferry) Spec() framework.Spec {
	return framework.Spec{ID: "test/ferry@1", Observation: space.Discrete{N: 2}, Action: space.Discrete{N: 2}, Continuing: f.continuing}
}

func (f *ferry) Reset(context.Context, uint64) (space.Value, error) {
	f.bank, f.steps = 0, 0
	return space.Value{}, nil
}

func (f *ferry) Step(_ context.Context, a space.Value) (framework.TimeStep, error) {
	reward := 0.0
	f.bank, reward = f.model.Step(f.bank, int(a.Int), nil)
	f.steps++
	return framework.TimeStep{
		Observation: space.Value{Int: int64(f.bank)}, Reward: reward, Terminated: f.model.Terminal(f.bank), Truncated: f.steps == f.truncate,
	}, nil
}

// modeled is an environment whose lanes have one model.
type modeled struct {
	vector.Environment
	model *mdp.Tabular
	lanes int
}

func (m modeled) Abilities() vector.EnvironmentAbilities {
	return vector.EnvironmentAbilities{Models: m.models}
}

func (m modeled) models(context.Context) ([]*mdp.Tabular, error) {
	out := make([]*mdp.Tabular, m.lanes)
	for i := range out {
		out[i] = m.model
	}
	return out, nil
}

// rower always goes across.
type rower struct{}

func (rower) SelectAction(context.Context, space.Value) (space.Value, error) {
	return space.Value{Int: 1}, nil
}
func (rower) Update(context.Context, framework.Transition) error { return nil }

// twoStates returns a model of two states. Action 1 goes from each to the other.
func twoStates() mdp.Definition {
	return mdp.Definition{
		States: 2, Actions: 2,
		Transitions: []mdp.Transition{{S: 0, A: 0, Next: 0, P: 1}, {S: 0, A: 1, Next: 1, P: 1}, {S: 1, A: 0, Next: 1, P: 1}, {S: 1, A: 1, Next: 0, P: 1}},
		Rewards:     []mdp.Reward{{S: 0, A: 0, R: 2}, {S: 0, A: 1, R: 3}},
	}
}

func regretOf(t *testing.T, d mdp.Definition, continuing bool) []float64 {
	t.Helper()
	m := must.Get(mdp.NewModel(d))(t)
	return curveOf(t, result.Regret, &ferry{model: m, continuing: continuing})
}

// curveOf returns the curve of a metric in four steps of the rower.
func curveOf(t *testing.T, of result.Metric, f *ferry) []float64 {
	t.Helper()
	out := must.Get(Run(t.Context(), ferries(t, of, f, f.model)))(t)
	if a, b := fmt.Sprint(out[0].Curves), fmt.Sprint(out[1].Curves); a != b {
		t.Errorf("lanes that do the same have regrets %s and %s", a, b)
	}
	return out[0].Curves[of]
}

// ferries are two lanes of a ferry, which says that its model is m.
func ferries(t *testing.T, of result.Metric, f *ferry, m *mdp.Tabular) Batch {
	t.Helper()
	env := must.Get(vector.Vectorize(func() (framework.Environment, error) { x := *f; return &x, nil }, 2))(t)
	agent := must.Get(vector.VectorizeAgent(func(uint64) (framework.Agent, error) { return rower{}, nil }, env.Spec(), 2))(t)
	return Batch{
		Environment: modeled{env, m, 2}, Runs: []int{0, 1}, Seeds: seed.NewSource(1, env.Spec().ID), Steps: 4,
		Grid: []int{1, 2, 3, 4}, Metrics: []result.Metric{of},
		Agent: agent,
	}
}

// A step that the model does not allow ends the run, since its regret would be that of another task. It is
// not looked for where no metric needs the model.
func TestStepsFollowTheModel(t *testing.T) {
	truth := must.Get(mdp.NewModel(twoStates()))(t)
	for _, c := range []struct {
		change     func(*mdp.Definition)
		continuing bool
		want       string
	}{
		{func(*mdp.Definition) {}, true, ""},
		{func(d *mdp.Definition) { d.Initial = []mdp.Weight{{S: 1, P: 0.5}, {S: 0, P: 0.5}} }, true, ""}, // in any order
		{func(d *mdp.Definition) { d.Transitions[3].Next = 1 }, true, "call 3: lane 0: invalid answer: it does not follow the model that it gives: action 1 in state 1 led to state 0, which has the probability 0 in the model"},
		{func(d *mdp.Definition) { d.Terminal, d.Transitions = []int{1}, d.Transitions[:2] }, false, "call 2: lane 0: invalid answer: it does not follow the model that it gives: action 1 in state 0 led to state 1 and terminated is false, but in the model terminal is true"},
		{func(d *mdp.Definition) { d.Rewards[1].R, d.Bernoulli = 0.5, []mdp.Pair{{S: 0, A: 1}} }, true, "call 2: lane 0: invalid answer: it does not follow the model that it gives: action 1 in state 0 paid 3, and the model pays 0 or 1 (Bernoulli)"},
		{func(d *mdp.Definition) { d.Initial = []mdp.Weight{{S: 1, P: 1}} }, true, "call 1: lane 0: invalid answer: it does not follow the model that it gives: an episode began in state 0, in which none of the model begins"},
	} {
		d := twoStates()
		c.change(&d)
		b := ferries(t, result.Regret, &ferry{model: truth, continuing: c.continuing}, must.Get(mdp.NewModel(d))(t))
		_, err := Run(t.Context(), b)
		var lane *vector.LaneError
		if c.want == "" {
			must.Do(t, err)
		} else if err == nil || !strings.HasSuffix(err.Error(), c.want) || !errors.As(err, &lane) || !errors.Is(err, framework.ErrInvalidAnswer) {
			t.Errorf("got %v, want %s", err, c.want)
		}
		b = ferries(t, result.Reward, &ferry{model: truth, continuing: c.continuing}, must.Get(mdp.NewModel(d))(t))
		must.Get(Run(t.Context(), b))(t)
	}
}

// The regret of a continuing task with several states is counted against its
// optimal reward per step. Here that is 2, for waiting: crossing pays 3, but the
// way back pays nothing.
func TestRegretOfSeveralStates(t *testing.T) {
	d := twoStates()
	if got, want := fmt.Sprint(regretOf(t, d, true)), "[-1 1 0 2]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := regretOf(t, d, false); got != nil {
		t.Errorf("a task with episodes, whose length the model does not know, has regret %v", got)
	}
	// A run stays where it begins, so state 1 does not matter.
	d.Transitions = []mdp.Transition{{S: 0, A: 0, Next: 0, P: 1}, {S: 0, A: 1, Next: 0, P: 1}, {S: 1, A: 0, Next: 1, P: 1}, {S: 1, A: 1, Next: 1, P: 1}}
	if got, want := fmt.Sprint(regretOf(t, d, true)), "[0 0 0 0]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	d.Initial = []mdp.Weight{{S: 0, P: 0.5}, {S: 1, P: 0.5}} // what is best depends on the start
	if got := regretOf(t, d, true); got != nil {
		t.Errorf("got regret %v against an optimum that is not one number", got)
	}
}

// The regret of episodes is the optimal return, of truncated episodes too, minus the returns.
func TestRegretOfEpisodes(t *testing.T) {
	of := func(change func(*mdp.Definition), truncate int) string {
		d := twoStates()
		change(&d)
		m := must.Get(mdp.NewModel(d))(t)
		return fmt.Sprint(curveOf(t, metric.EpisodeRegret, &ferry{model: m, truncate: truncate}))
	}
	lost := func(d *mdp.Definition) { d.Transitions, d.Terminal = d.Transitions[:2], []int{1}; d.Rewards[0].R = -1 }
	for _, c := range []struct {
		why      string
		change   func(*mdp.Definition)
		truncate int
		want     string
	}{
		{"crossing ends an episode, and pays most", lost, 0, "[0 0 0 0]"},
		{"two steps: staying and crossing pay 5, crossing and coming back 3", func(d *mdp.Definition) { d.EpisodeSteps = 2 }, 2, "[0 2 2 4]"},
		{"no episode is known to end, and waiting pays for ever", func(*mdp.Definition) {}, 2, "[]"},
		{"an episode is truncated, which the model does not say", func(d *mdp.Definition) { d.Rewards = nil }, 2, "[0 NaN NaN NaN]"},
	} {
		if got := of(c.change, c.truncate); got != c.want {
			t.Errorf("%s: got %s, want %s", c.why, got, c.want)
		}
	}
}

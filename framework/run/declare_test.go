package run

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// An environment that measures the host's metrics means them as the host does. Its other metrics,
// and an agent's, are its own.
func TestDeclaredHostMetrics(t *testing.T) {
	for _, tt := range []struct {
		side string
		m    framework.Metric
		want string // in the error; empty if there is none
	}{
		{result.EnvironmentMetrics, framework.Metric{Name: "regret", Better: framework.Lower, Total: framework.Last}, ""},
		{result.EnvironmentMetrics, framework.Metric{Name: "optimal_action", Better: framework.Higher}, ""},
		{result.EnvironmentMetrics, framework.Metric{Name: "regret", Better: framework.Higher, Total: framework.Last}, `better "higher" and the last as total; rlrun's metric of this name has better "lower" and the last`},
		{result.EnvironmentMetrics, framework.Metric{Name: "regret", Better: framework.Lower}, "the mean as total"},
		{result.EnvironmentMetrics, framework.Metric{Name: "regret", Total: framework.Last}, `better ""`},
		{result.EnvironmentMetrics, framework.Metric{Name: "optimal_action", Better: framework.Higher, Total: framework.Sum}, "the sum as total"},
		{result.EnvironmentMetrics, framework.Metric{Name: "reward", Better: framework.Lower}, ""},
		{result.AgentMetrics, framework.Metric{Name: "regret", Better: framework.Higher}, ""},
	} {
		x := &Runner{Experiment: &store.Experiment{}}
		err := x.declare(tt.side, &vector.Measures{Metrics: []framework.Metric{tt.m}})
		declared := len(x.Declared.Environment) + len(x.Declared.Agent)
		if tt.want == "" && (err != nil || declared != 1) {
			t.Errorf("%s %+v: %v", tt.side, tt.m, err)
		}
		if tt.want != "" && (!errors.Is(err, framework.ErrInvalidAnswer) || !strings.Contains(err.Error(), tt.want) || declared != 0) {
			t.Errorf("%s %+v: got %v, want %s", tt.side, tt.m, err, tt.want)
		}
	}
}

// Two plugins of a side may declare a metric of one name if they mean the same by it.
func TestMetricsOfTwoPlugins(t *testing.T) {
	first := framework.Metric{Name: "energy", Better: framework.Lower, Total: framework.Sum, Unit: "kWh"}
	for want, m := range map[string]framework.Metric{
		"":                {Name: "energy", Better: framework.Lower, Total: framework.Sum, Unit: "kWh", Doc: "of this task"},
		`better "higher"`: {Name: "energy", Better: framework.Higher, Total: framework.Sum, Unit: "kWh"},
		`total "last"`:    {Name: "energy", Better: framework.Lower, Total: framework.Last, Unit: "kWh"},
		`and unit "MJ"`:   {Name: "energy", Better: framework.Lower, Total: framework.Sum, Unit: "MJ"},
	} {
		x := &Runner{Experiment: &store.Experiment{}}
		other := x.declare(result.AgentMetrics, &vector.Measures{Metrics: []framework.Metric{m}}) // another side's
		if err := x.declare(result.EnvironmentMetrics, &vector.Measures{Metrics: []framework.Metric{first}}); err != nil || other != nil {
			t.Error(err, other)
		}
		err := x.declare(result.EnvironmentMetrics, &vector.Measures{Metrics: []framework.Metric{m}})
		if (err == nil) != (want == "") || err != nil && (!errors.Is(err, framework.ErrInvalidAnswer) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%+v: got %v, want %s", m, err, want)
		}
	}
}

// said is an environment or agent of which only what it says of itself is asked.
type said struct {
	vector.Environment
	spec    framework.Spec
	metrics []framework.Metric
	model   *mdp.Tabular
}

func (s said) Step(context.Context, *vector.Actions, *vector.TimeSteps) error { return nil }
func (s said) Spec() framework.Spec                                           { return s.spec }
func (s said) Close() error                                                   { return nil }
func (s said) Abilities() vector.EnvironmentAbilities {
	a := vector.EnvironmentAbilities{Measures: &vector.Measures{Metrics: s.metrics}}
	if s.model != nil {
		a.Models = func(context.Context) ([]*mdp.Tabular, error) { return []*mdp.Tabular{s.model, s.model}, nil }
	}
	return a
}

// saying is a plugin of it.
type saying struct {
	vector.Plugin
	env said
}

func (s saying) OpenEnvironment(context.Context, json.RawMessage, int) (vector.Environment, error) {
	return s.env, nil
}

type silentAgent struct{ vector.Agent }

func (silentAgent) Abilities() vector.AgentAbilities { return vector.AgentAbilities{} }

// An environment that says one thing in one process and another in the next is refused, by what differs.
func TestOtherProcessSaysOtherwise(t *testing.T) {
	spec := framework.Spec{ID: "a/b@1", Observation: space.Discrete{N: 2}, Action: space.Discrete{N: 2}, RewardHigh: 1}
	wider, bounded := spec, spec
	wider.Action, bounded.RewardHigh = space.Discrete{N: 3}, 2
	up, down := framework.Metric{Name: "m", Better: framework.Higher}, framework.Metric{Name: "m", Better: framework.Lower}
	model := func(change func(d *mdp.Definition)) *mdp.Tabular {
		d := mdp.Definition{States: 2, Actions: 1, Transitions: []mdp.Transition{{S: 0, A: 0, Next: 0, P: 0.25}, {S: 0, A: 0, Next: 1, P: 0.75}, {S: 1, A: 0, Next: 1, P: 1}},
			Rewards: []mdp.Reward{{S: 1, A: 0, R: 1}}, Initial: []mdp.Weight{{S: 0, P: 1}}}
		change(&d)
		return must.Get(mdp.NewModel(d))(t)
	}
	same := func(*mdp.Definition) {}
	first := said{spec: spec, metrics: []framework.Metric{up}}
	second := func(change func(d *mdp.Definition)) said {
		return said{spec: spec, metrics: first.metrics, model: model(change)}
	}
	for name, tt := range map[string]struct {
		second    said
		want      string // in the error before the runs; empty if there is none
		inWorkers bool   // metrics are refused there too
	}{
		"the same":                       {first, "", false},
		"another space":                  {said{spec: wider, metrics: first.metrics}, "its action is {N:2 Start:0} in one process and {N:3 Start:0} in another", false},
		"another bound":                  {said{spec: bounded, metrics: first.metrics}, "its reward high is 1 in one process and 2 in another", false},
		"metric turned":                  {said{spec: spec, metrics: []framework.Metric{down}}, "its metrics are", true},
		"metric more":                    {said{spec: spec, metrics: []framework.Metric{up, {Name: "n"}}}, "its metrics are", true},
		"no model":                       {first, "it gives its model in one process and not in another", false},
		"the same model":                 {second(same), "", false},
		"a model in another order":       {second(func(d *mdp.Definition) { slices.Reverse(d.Transitions); d.Transitions[1].P += 1e-13 }), "", false},
		"a model with other rewards":     {second(func(d *mdp.Definition) { d.Rewards[0].R = 2 }), "its model has rewards of action 0 in state 1 in one process and others in another", false},
		"a model with other transitions": {second(func(d *mdp.Definition) { d.Transitions[0].P, d.Transitions[1].P = 0.75, 0.25 }), "transitions of action 0 in state 0", false},
		"a model with another start":     {second(func(d *mdp.Definition) { d.Initial[0].S = 1 }), "initial states", false},
		"a model of other episodes":      {second(func(d *mdp.Definition) { d.EpisodeSteps = 5 }), "episodes of 0 steps", false},
		"metric is there":                {said{spec: spec, metrics: []framework.Metric{up}}, "", false},
	} {
		first := first
		if strings.Contains(name, "model") {
			first.model = model(same)
		}
		err := SameSpec(t.Context(), saying{env: first}, saying{env: tt.second}, nil)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
		w := &worker{execution: &execution{declared: &store.Declared{Environment: first.metrics}}}
		if err := w.sameMetrics(tt.second, silentAgent{}); errors.Is(err, store.ErrChanged) != tt.inWorkers {
			t.Errorf("%s: in a worker: %v", name, err)
		}
	}
}

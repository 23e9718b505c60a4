package plugin_test

import (
	"context"
	"fmt"
	"math"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/vector"
)

// learner estimates the reward of a single action.
type learner struct {
	rate, value   float64
	errors, steps float64 // since the last call of Measure
}

func (a *learner) SelectAction(context.Context, plugin.Value) (plugin.Value, error) {
	return plugin.Value{Int: 0}, nil
}

func (a *learner) Update(_ context.Context, t plugin.Transition) error {
	delta := t.Reward - a.value
	a.value += a.rate * delta
	a.errors, a.steps = a.errors+math.Abs(delta), a.steps+1
	return nil
}

func (a *learner) Metrics() []plugin.Metric {
	return []plugin.Metric{{Name: "td_error", Unit: "reward", Doc: "Mean size of TD errors.", Better: framework.Lower}}
}

func (a *learner) Measure(_ context.Context, dst []float64) error {
	dst[0] = a.errors / a.steps // NaN if there was no step since the last call
	a.errors, a.steps = 0, 0
	return nil
}

// learnerParams are its parameters, as a config names them.
type learnerParams struct {
	Rate float64 `json:"rate" jsonschema:"exclusiveMinimum=0,maximum=1" jsonschema_description:"Step size."`
}

// A plugin of an agent: its main function passes the same arguments to ServeAgent. Here
// the host opens two lanes of it in this process and reads its metric.
func ExampleNewAgent() {
	p := plugin.NewAgent("me/learner@1", "Estimates the reward of an action.", learnerParams{Rate: 0.5},
		func(p learnerParams, _ plugin.Spec, _ uint64) (*learner, error) { return &learner{rate: p.Rate}, nil })
	ctx := context.Background()
	spec := plugin.Spec{ID: "me/lever@1", Observation: plugin.Discrete{N: 1}, Action: plugin.Discrete{N: 1}, RewardHigh: 1, Continuing: true}
	agent, err := p.OpenAgent(ctx, []byte(`{"rate": 0.25}`), spec, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer agent.Close()
	in, actions := vector.NewFeedback(spec, 2), vector.NewActions(spec, 2)
	measures, td := agent.Abilities().Measures, make([]float64, 2)
	for step, signal := range []vector.Signal{vector.NewRun, vector.Continue, vector.Continue} {
		for lane := range 2 {
			in.Signals[lane], in.Rewards[lane] = signal, float64(lane)
		}
		if err := agent.Step(ctx, in, &actions.Actions); err != nil {
			fmt.Println(err)
			return
		}
		if err := measures.Read(ctx, []int{0, 1}, td); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(step, measures.Metrics[0].Name, td)
	}
	// Output:
	// 0 td_error [NaN NaN]
	// 1 td_error [0 1]
	// 2 td_error [0 0.75]
}

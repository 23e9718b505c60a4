package run_test

import (
	"context"
	"fmt"
	"os"

	"github.com/rlrun/rlrun/framework/output"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/run"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/framework/vector"
)

// lever is an environment with one state: action 1 pays 1, action 0 nothing.
type lever struct{}

func (lever) Spec() plugin.Spec {
	return plugin.Spec{ID: "me/lever@1", Observation: plugin.Discrete{N: 1}, Action: plugin.Discrete{N: 2}, RewardHigh: 1, Continuing: true}
}

func (lever) Reset(context.Context, uint64) (plugin.Value, error) { return plugin.Value{}, nil }

func (lever) Step(_ context.Context, action plugin.Value) (plugin.TimeStep, error) {
	return plugin.TimeStep{Reward: float64(action.Int)}, nil
}

// alternating is an agent that takes the actions in turn.
type alternating struct{ next int64 }

func (a *alternating) SelectAction(context.Context, plugin.Value) (plugin.Value, error) {
	a.next = 1 - a.next
	return plugin.Value{Int: a.next}, nil
}

func (a *alternating) Update(context.Context, plugin.Transition) error { return nil }

// here finds plugins in this process, by name.
type here map[string]vector.Plugin

func (here) Remote(plan.Component) (bool, error) { return false, nil }

func (h here) Open(_ context.Context, c plan.Component) (vector.Plugin, func() error, error) {
	p, ok := h[c.Plugin]
	if !ok {
		return nil, nil, fmt.Errorf("no plugin %q", c.Plugin)
	}
	return p, func() error { return nil }, nil
}

func (here) Identify(_ context.Context, _ vector.Plugin, c plan.Component) (store.PluginProvenance, error) {
	return store.PluginProvenance{Plugin: c.Plugin, Program: "example"}, nil
}

// An experiment goes one way: compile, check, run, write.
func ExampleRunner() {
	type none struct{}
	plugins := here{
		"lever":       plugin.NewEnvironment("me/lever@1", "Two actions.", none{}, func(none) (lever, error) { return lever{}, nil }),
		"alternating": plugin.NewAgent("me/alternating@1", "Takes turns.", none{}, func(none, plugin.Spec, uint64) (*alternating, error) { return &alternating{}, nil }),
	}
	dir, err := os.MkdirTemp("", "experiment")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	plan, err := plan.Compile(plan.Config{
		Runs: 20, Steps: 100, Output: dir,
		Environments: []plan.Component{{Name: "a lever", Plugin: "lever"}},
		Agents:       []plan.Component{{Name: "in turn", Plugin: "alternating"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	x := run.New(plan, plugins)
	defer x.Close()
	ctx := context.Background()
	if err := x.Check(ctx, nil); err != nil {
		fmt.Println(err)
		return
	}
	if err := x.Run(ctx, store.Overwrite, run.Settings{}); err != nil {
		fmt.Println(err)
		return
	}
	results, err := output.Write(x.Experiment)
	if err != nil {
		fmt.Println(err)
		return
	}
	row := results.Summary.Row("a lever", "in turn", result.Reward)
	fmt.Printf("%d runs, mean reward %.2f\n", len(row.Values), row.Mean)
	// Output:
	// 20 runs, mean reward 0.50
}

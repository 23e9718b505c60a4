package experiment_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/rlrun/rlrun/framework/experiment"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/plugins"
)

// bundled finds the plugins that ship with rlrun. They run in this process.
type bundled map[string]vector.Plugin

func (bundled) Remote(experiment.Component) (bool, error) { return false, nil }

func (b bundled) Open(_ context.Context, c experiment.Component) (vector.Plugin, func() error, error) {
	p, ok := b[c.Plugin]
	if !ok {
		return nil, nil, fmt.Errorf("no plugin %q", c.Plugin)
	}
	return p, func() error { return nil }, nil
}

func (bundled) Identify(_ context.Context, _ vector.Plugin, c ...experiment.Component) (experiment.PluginProvenance, error) {
	return experiment.PluginProvenance{Plugin: c[0].Plugin, Program: "example"}, nil
}

// An experiment goes one way: compile, check, execute, write.
func ExampleExperiment() {
	found := bundled{}
	for _, p := range plugins.All() {
		d, err := p.Describe(context.Background())
		if err != nil {
			fmt.Println(err)
			return
		}
		_, name, _ := strings.Cut(d.ID, "/") // rlrun/bandit@1
		name, _, _ = strings.Cut(name, "@")
		found[name] = p
	}
	dir, err := os.MkdirTemp("", "experiment")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	plan, err := experiment.Compile(experiment.Config{
		Runs: 20, Steps: 100, Output: dir,
		Environments: []experiment.Component{{Name: "two arms", Plugin: "bernoulli-bandit", Params: json.RawMessage(`{"means": [0.2, 0.8]}`)}},
		Agents:       []experiment.Component{{Name: "thompson", Plugin: "bandit", Params: json.RawMessage(`{"policy": {"kind": "thompson"}}`)}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	x := experiment.New(plan, found)
	defer x.Close()
	ctx := context.Background()
	if err := x.Check(ctx, nil); err != nil {
		fmt.Println(err)
		return
	}
	if err := x.Execute(ctx, experiment.Local{Existing: experiment.Overwrite}); err != nil {
		fmt.Println(err)
		return
	}
	results, err := x.Write()
	if err != nil {
		fmt.Println(err)
		return
	}
	row := results.Summary.Row("two arms", "thompson", result.Reward)
	fmt.Printf("%d runs, mean reward %.2f\n", len(row.Values), row.Mean)
	// Output:
	// 20 runs, mean reward 0.61
}

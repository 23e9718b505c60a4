// Command levels plays bundled agents in bundled environments, and prints the records.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/run"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/plugins"
)

type bundled map[string]vector.Plugin

func (bundled) Remote(plan.Component) (bool, error) { return false, nil }

func (b bundled) Open(_ context.Context, c plan.Component) (vector.Plugin, func() error, error) {
	return b[c.Plugin], func() error { return nil }, nil
}

func (bundled) Identify(_ context.Context, _ vector.Plugin, c plan.Component) (store.PluginProvenance, error) {
	return store.PluginProvenance{Plugin: c.Plugin, Program: "levels"}, nil
}

const config = `{runs: 1, steps: 100, workers: 1,
  environments: [{plugin: gaussian-bandit}, {plugin: bernoulli-bandit}, {plugin: riverswim}, {plugin: fourrooms}, {plugin: mountaincar}, {plugin: acrobot}, {plugin: cartpole}],
  agents: [
    {plugin: bandit, params: {policy: {kind: thompson}}}, {plugin: bandit, name: b2, params: {policy: {kind: ucb1}}},
    {plugin: q-learning}, {plugin: psrl}, {plugin: ucrl2}, {plugin: bootstrap-q}, {plugin: bayesian-q}, {plugin: threshold-model},
    {plugin: sarsa-linear}, {plugin: bootstrap-linear}, {plugin: random}],
  matrix: {skip_incompatible: true}}`

func main() {
	if err := play(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func play(ctx context.Context, dir string) error {
	c, err := plan.ParseConfig([]byte(config))
	if err != nil {
		return err
	}
	c.Output = dir
	p, err := plan.Compile(c)
	if err != nil {
		return err
	}
	found := bundled{}
	for _, p := range plugins.All() {
		d, err := p.Describe(ctx)
		if err != nil {
			return err
		}
		_, name, _ := strings.Cut(strings.TrimSuffix(d.ID, "@1"), "/")
		found[name] = p
	}
	x := run.New(p, found)
	defer x.Close()
	if err := x.Check(ctx, nil); err != nil {
		return err
	}
	if err := x.Run(ctx, store.Overwrite, run.Settings{}); err != nil {
		return err
	}
	for r, err := range result.ReadRecords(dir) {
		if err != nil {
			return err
		}
		fmt.Printf("%s\n", r.AppendJSON(nil))
	}
	return nil
}

package agenttest

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/explore"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// Finite is a description of a small episodic task.
var Finite = framework.Spec{ID: "test/finite@1", Observation: space.Discrete{N: 3, Start: 5}, Action: space.Discrete{N: 2, Start: 1}, RewardLow: -1, RewardHigh: 1}

// Lane returns one lane of an agent for finite tasks in its first run.
func Lane[L lanes.Learner[int]](t testing.TB, p vector.Plugin, params string, spec framework.Spec) L {
	t.Helper()
	a, err := p.OpenAgent(context.Background(), json.RawMessage(params), spec, 1)
	if err != nil {
		t.Fatal(err)
	}
	x := lanes.Learners[int](a)[0].(L)
	x.Start(1)
	return x
}

// Play runs an agent in an environment, n runs from first on.
func (plugins Plugins) Play(t testing.TB, env, envParams, agent, agentParams string, first, n, steps int, grid []int, metrics ...result.Metric) []loop.Outcome {
	t.Helper()
	return plugins.PlayHosted(t, env, envParams, agent, agentParams, nil, first, n, steps, grid, metrics...)
}

// PlayHosted is Play; unless host is nil, the host decides when to explore.
func (plugins Plugins) PlayHosted(t testing.TB, env, envParams, agent, agentParams string, host *explore.Config, first, n, steps int, grid []int, metrics ...result.Metric) []loop.Outcome {
	t.Helper()
	e, err := plugins.Find(t, env).OpenEnvironment(context.Background(), json.RawMessage(envParams), n)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	a, err := plugins.Find(t, agent).OpenAgent(context.Background(), json.RawMessage(agentParams), e.Spec(), n)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if host != nil {
		if a, err = explore.New(context.Background(), a.Abilities().Options, e.Spec(), n, *host); err != nil {
			t.Fatal(err)
		}
	}
	runs := make([]int, n)
	for i := range runs {
		runs[i] = first + i
	}
	out, err := loop.Run(context.Background(), loop.Batch{
		Environment: e, Agent: a, Runs: runs, Seeds: seed.NewSource(1, e.Spec().ID),
		Steps: steps, Grid: grid, Discount: 0.99, Metrics: metrics,
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Trained returns the one lane of an agent after steps in an environment, and the
// environment's model.
func (plugins Plugins) Trained(t testing.TB, env, envParams, agent, agentParams string, steps int) (lanes.Learner[int], *mdp.Tabular) {
	t.Helper()
	e, err := plugins.Find(t, env).OpenEnvironment(context.Background(), json.RawMessage(envParams), 1)
	if err != nil {
		t.Fatal(err)
	}
	a, err := plugins.Find(t, agent).OpenAgent(context.Background(), json.RawMessage(agentParams), e.Spec(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := loop.Run(context.Background(), loop.Batch{
		Environment: e, Agent: a, Runs: []int{0}, Seeds: seed.NewSource(1, e.Spec().ID), Steps: steps, Discount: 1,
	}); err != nil {
		t.Fatal(err)
	}
	models, err := vector.Models(context.Background(), e)
	if err != nil {
		t.Fatal(err)
	}
	return lanes.Learners[int](a)[0], models[0]
}

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
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// Finite is a description of a small episodic task.
var Finite = framework.Spec{ID: "test/finite@1", Observation: space.Discrete{N: 3, Start: 5}, Action: space.Discrete{N: 2, Start: 1}, RewardLow: -1, RewardHigh: 1}

// Lane returns one lane of an agent for finite tasks in its first run.
func Lane[L lanes.Learner[int]](t testing.TB, p vector.Plugin, params string, spec framework.Spec) L {
	t.Helper()
	a := must.Get(p.OpenAgent(context.Background(), json.RawMessage(params), spec, 1))(t)
	x := lanes.Learners[int](a)[0].(L)
	x.Start(1)
	return x
}

// Play runs an agent in an environment, n runs from first on.
func (plugins Plugins) Play(t testing.TB, env, envParams, agent, agentParams string, first, n, steps int, grid []int, metrics ...result.Metric) []loop.Outcome {
	t.Helper()
	return plugins.PlayHosted(t, env, envParams, agent, agentParams, nil, first, n, steps, grid, metrics...)
}

// Earns is the mean of a metric over runs of an agent, and over their steps after from.
func (plugins Plugins) Earns(t testing.TB, env, envParams, agent, agentParams string, runs, from, steps int, m result.Metric) (mean float64) {
	t.Helper()
	for _, o := range plugins.Play(t, env, envParams, agent, agentParams, 0, runs, steps, []int{from, steps}, m) {
		mean += o.Curves[m][1] / float64(runs)
	}
	return mean
}

// PlayHosted is Play; unless host is nil, the host decides when to explore.
func (plugins Plugins) PlayHosted(t testing.TB, env, envParams, agent, agentParams string, host *explore.Config, first, n, steps int, grid []int, metrics ...result.Metric) []loop.Outcome {
	t.Helper()
	e := must.Get(plugins.Find(t, env).OpenEnvironment(context.Background(), json.RawMessage(envParams), n))(t)
	defer e.Close()
	a := must.Get(plugins.Find(t, agent).OpenAgent(context.Background(), json.RawMessage(agentParams), e.Spec(), n))(t)
	defer a.Close()
	if host != nil {
		a = must.Get(explore.New(context.Background(), a.Abilities().Options, e.Spec(), n, *host))(t)
	}
	runs := make([]int, n)
	for i := range runs {
		runs[i] = first + i
	}
	return must.Get(loop.Run(context.Background(), loop.Batch{
		Environment: e, Agent: a, Runs: runs, Seeds: seed.NewSource(1, e.Spec().ID),
		Steps: steps, Grid: grid, Discount: 0.99, Metrics: metrics,
	}))(t)
}

// Trained returns the one lane of an agent after steps in an environment, and the
// environment's model.
func (plugins Plugins) Trained(t testing.TB, env, envParams, agent, agentParams string, steps int) (lanes.Learner[int], *mdp.Tabular) {
	t.Helper()
	e := must.Get(plugins.Find(t, env).OpenEnvironment(context.Background(), json.RawMessage(envParams), 1))(t)
	a := must.Get(plugins.Find(t, agent).OpenAgent(context.Background(), json.RawMessage(agentParams), e.Spec(), 1))(t)
	must.Get(loop.Run(context.Background(), loop.Batch{
		Environment: e, Agent: a, Runs: []int{0}, Seeds: seed.NewSource(1, e.Spec().ID), Steps: steps, Discount: 1,
	}))(t)
	models := must.Get(vector.Models(context.Background(), e))(t)
	return lanes.Learners[int](a)[0], models[0]
}

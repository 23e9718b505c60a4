package linearagents

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/plugins/classiccontrol"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
)

// find returns the agent or environment of a name.
var find = agenttest.Plugins(append(classiccontrol.Plugins(), Plugins()...)).Find

// pair opens an environment and an agent for it.
func pair(t testing.TB, env, envParams, agent, agentParams string, n int) (vector.Environment, vector.Agent) {
	t.Helper()
	e := must.Get(find(t, env).OpenEnvironment(context.Background(), json.RawMessage(envParams), n))(t)
	a := must.Get(find(t, agent).OpenAgent(context.Background(), json.RawMessage(agentParams), e.Spec(), n))(t)
	return e, a
}

// episodes runs an agent in an environment until every lane has had a number of
// episodes, and returns their lengths and returns by lane.
func episodes(t testing.TB, e vector.Environment, a vector.Agent, n, count int) (lengths, returns [][]float64) {
	t.Helper()
	ctx, spec := context.Background(), e.Spec()
	actions, in := vector.NewActions(spec, n), vector.NewFeedback(spec, n)
	source := seed.NewSource(1, spec.ID)
	lengths, returns = make([][]float64, n), make([][]float64, n)
	length, sum := make([]float64, n), make([]float64, n)
	for i := range n {
		actions.Signals[i], actions.Seeds[i] = vector.NewRun, source.Seed(i, seed.Environment, 0)
		in.Seeds[i] = source.Seed(i, seed.Agent, 0)
	}
	for live := n; live > 0; {
		must.Do(t, e.Step(ctx, actions, &in.TimeSteps))
		copy(in.Signals, actions.Signals)
		must.Do(t, a.Step(ctx, in, &actions.Actions))
		for i, s := range in.Signals {
			switch s {
			case vector.Idle:
				continue
			case vector.Continue:
				length[i]++
				sum[i] += in.Rewards[i]
			}
			actions.Signals[i] = vector.Continue
			if s != vector.Continue || !in.Terminated[i] && !in.Truncated[i] {
				continue
			}
			lengths[i], returns[i] = append(lengths[i], length[i]), append(returns[i], sum[i])
			length[i], sum[i] = 0, 0
			actions.Signals[i], actions.Seeds[i] = vector.NewEpisode, source.Seed(i, seed.Environment, uint64(len(lengths[i])))
			if len(lengths[i]) == count {
				actions.Signals[i] = vector.Idle
				live--
			}
		}
	}
	return lengths, returns
}

// cartPoleBox bounds what CartPole's agents see.
const cartPoleBox = `"low":[-2.4,-3,-0.21,-3.5],"high":[2.4,3,0.21,3.5]`

// BenchmarkStep is a step through the whole loop, on one core.
func BenchmarkStep(b *testing.B) {
	for _, tt := range []struct{ name, env, agent, params string }{
		{"mountaincar/sarsa-linear", "mountaincar", "sarsa-linear", ``},
		{"mountaincar/sarsa-linear,lambda=0", "mountaincar", "sarsa-linear", `{"lambda":0}`},
		{"mountaincar/bootstrap-linear", "mountaincar", "bootstrap-linear", ``},
		{"mountaincar/bootstrap-linear,members=1", "mountaincar", "bootstrap-linear", `{"members":1}`},
		{"cartpole/bootstrap-linear", "cartpole", "bootstrap-linear", `{"features":{` + cartPoleBox + `}}`},
		{"acrobot/bootstrap-linear", "acrobot", "bootstrap-linear", ``},
	} {
		b.Run(tt.name, func(b *testing.B) {
			const n, steps = 4, 50_000
			e, a := pair(b, tt.env, ``, tt.agent, tt.params, n)
			total := 0
			b.ReportAllocs()
			for b.Loop() {
				runs := make([]int, n)
				for i := range runs {
					runs[i] = total/steps + i
				}
				if _, err := loop.Run(context.Background(), loop.Batch{
					Environment: e, Agent: a, Runs: runs, Seeds: seed.NewSource(1, e.Spec().ID),
					Steps: steps, Grid: loop.LogGrid(200, steps), Discount: 0.99, Metrics: []result.Metric{result.EpisodeReturn},
				}); err != nil {
					b.Fatal(err)
				}
				total += n * steps
			}
			b.ReportMetric(float64(total)/b.Elapsed().Seconds()/1e6, "Msteps/s")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(total), "ns/step")
		})
	}
}

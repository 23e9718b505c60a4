package plugins

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/experiment"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
)

const benchSteps = 10_000

var benchMetrics = []result.Metric{result.Reward, result.DiscountedReturn, result.Regret, result.OptimalAction}

// lanes holds opened instances; step runs whole runs of 10,000 steps in them.
type lanes struct {
	env   framework.VectorEnvironment
	agent framework.VectorAgent
	n     int
}

func openLanes(b *testing.B, open experiment.Opener, arms int, agentParams string, n int) *lanes {
	b.Helper()
	return openMixed(b, open, open, arms, agentParams, n)
}

// openMixed opens environment and agent by transports of their own.
func openMixed(b *testing.B, openEnv, openAgent experiment.Opener, arms int, agentParams string, n int) *lanes {
	b.Helper()
	ctx := context.Background()
	e, closeEnv, err := openEnv(ctx, experiment.Component{Plugin: "bernoulli-bandit"})
	if err != nil {
		b.Fatal(err)
	}
	a, closeAgent, err := openAgent(ctx, experiment.Component{Plugin: "bandit"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { closeEnv(); closeAgent() })
	env, err := e.OpenEnvironment(ctx, json.RawMessage(fmt.Sprintf(`{"arms":%d}`, arms)), n)
	if err != nil {
		b.Fatal(err)
	}
	agent, err := a.OpenAgent(ctx, json.RawMessage(agentParams), env.Spec(), n)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { agent.Close(); env.Close() })
	return &lanes{env, agent, n}
}

func (l *lanes) run(b *testing.B, first, steps int) {
	runs := make([]int, l.n)
	for i := range runs {
		runs[i] = first + i
	}
	_, err := loop.Run(context.Background(), loop.Batch{
		Environment: l.env, Agent: l.agent, Runs: runs, Seeds: seed.NewSource(1, l.env.Spec().ID),
		Steps: steps, Grid: loop.LogGrid(200, steps), Discount: 0.99, Metrics: benchMetrics,
	})
	if err != nil {
		b.Error(err)
	}
}

func report(b *testing.B, steps int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps), "ns/step")
	b.ReportMetric(0, "ns/op")
}

var benchAgents = []struct{ name, params string }{
	{"epsilon-greedy", `{"policy":{"kind":"epsilon-greedy"},"belief":{"kind":"point"}}`},
	{"thompson", `{"policy":{"kind":"thompson"},"belief":{"kind":"population"}}`},
	{"optimistic-stochastic", `{"policy":{"kind":"optimistic-stochastic","gamma":0.99}}`},
	{"vpi", `{"policy":{"kind":"vpi"},"belief":{"kind":"population"}}`},
	{"ucb1", `{"policy":{"kind":"ucb1"}}`},
	{"thompson-beta", `{"policy":{"kind":"thompson"},"belief":{"kind":"beta"}}`},
}

// BenchmarkLoop is what a step costs through the framework's loop, in process, on
// one core: compare with policy.BenchmarkStep, the same step in the library. The
// start of a run (drawing arms and beliefs, the models for regret) is timed with
// runs of one step and reported by itself.
func BenchmarkLoop(b *testing.B) {
	for _, a := range benchAgents {
		for _, arms := range []int{16, 128, 256} {
			b.Run(fmt.Sprintf("%s/arms=%d", a.name, arms), func(b *testing.B) {
				l := openLanes(b, inProcess, arms, a.params, 4)
				steps := 0
				var starting time.Duration
				for b.Loop() {
					begun := time.Now()
					l.run(b, steps, 1)
					starting += time.Since(begun)
					l.run(b, steps, benchSteps)
					steps += l.n * benchSteps
				}
				b.ReportMetric(float64((b.Elapsed()-2*starting).Nanoseconds())/float64(steps), "ns/step")
				b.ReportMetric(float64(starting.Microseconds())*benchSteps/float64(steps), "µs/start")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// BenchmarkLanes is how the cost of a step depends on the number of lanes.
func BenchmarkLanes(b *testing.B) {
	for _, n := range []int{1, 2, 4, 8, 16, 64, 1000} {
		b.Run(fmt.Sprintf("thompson/arms=16/lanes=%d", n), func(b *testing.B) {
			l := openLanes(b, inProcess, 16, benchAgents[1].params, n)
			steps := 0
			for b.Loop() {
				l.run(b, steps, benchSteps)
				steps += n * benchSteps
			}
			report(b, steps)
		})
	}
}

// BenchmarkTransports is a step at 1,000 lanes: in process; with the environment,
// the agent, or both in a process of their own; and with both in two halves at the
// same time, each through processes of its own, which is how an experiment does
// 1,000 runs on two cores.
func BenchmarkTransports(b *testing.B) {
	for _, tt := range []struct {
		name       string
		env, agent experiment.Opener
		halves     int
	}{
		{"inprocess", inProcess, inProcess, 1},
		{"environment", subprocess, inProcess, 1},
		{"agent", inProcess, subprocess, 1},
		{"both", subprocess, subprocess, 1},
		{"both-in-halves", subprocess, subprocess, 2},
	} {
		b.Run(tt.name, func(b *testing.B) {
			var ls []*lanes
			for range tt.halves {
				ls = append(ls, openMixed(b, tt.env, tt.agent, 16, benchAgents[1].params, 1000/tt.halves))
			}
			steps := 0
			for b.Loop() {
				runAll(b, ls)
				steps += 1000 * benchSteps
			}
			report(b, steps)
		})
	}
}

// runAll does runs of 10,000 steps in all lanes at the same time.
func runAll(b *testing.B, ls []*lanes) {
	var wg sync.WaitGroup
	for w, l := range ls {
		wg.Go(func() { l.run(b, l.n*w, benchSteps) })
	}
	wg.Wait()
}

// BenchmarkCores is the time a step takes with one worker and with two, under the
// garbage collector's setting of rlrun run.
func BenchmarkCores(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			var ls []*lanes
			for range workers {
				ls = append(ls, openLanes(b, inProcess, 16, benchAgents[1].params, 4))
			}
			// A round is long against the time in which a sleeping core wakes.
			const batches = 32
			steps := 0
			for b.Loop() {
				var wg sync.WaitGroup
				for w, l := range ls {
					wg.Go(func() {
						for k := range batches {
							l.run(b, (w*batches+k)*l.n, benchSteps)
						}
					})
				}
				wg.Wait()
				steps += workers * batches * 4 * benchSteps
			}
			report(b, steps)
		})
	}
}

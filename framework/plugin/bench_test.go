package plugin_test

import (
	"fmt"
	"testing"

	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// BenchmarkStep steps an environment alone, and an environment and an agent in
// turn, in process and through subprocesses. ns/lane is the time of a step of one
// lane. Episodes never end in it.
func BenchmarkStep(b *testing.B) {
	b.Run("inprocess", func(b *testing.B) {
		benchmarkSteps(b, faultyEnvironment(), faultyAgent())
	})
	b.Run("process", func(b *testing.B) {
		benchmarkSteps(b,
			launch(b, plugin.LaunchOptions{}, "serve-environment"),
			launch(b, plugin.LaunchOptions{}, "serve-agent"))
	})
}

func benchmarkSteps(b *testing.B, envs, agents vector.Plugin) {
	for _, lanes := range []int{1, 16, 64, 256, 1024} {
		b.Run(fmt.Sprintf("environment/lanes=%d", lanes), func(b *testing.B) {
			benchmarkStep(b, envs, nil, lanes)
		})
		b.Run(fmt.Sprintf("both/lanes=%d", lanes), func(b *testing.B) {
			benchmarkStep(b, envs, agents, lanes)
		})
	}
}

// benchmarkStep steps without an agent if agents is nil.
func benchmarkStep(b *testing.B, envs, agents vector.Plugin, lanes int) {
	ctx := b.Context()
	env := must.Get(envs.OpenEnvironment(ctx, []byte(`{"lane":-1,"fault":"endless"}`), lanes))(b)
	defer env.Close()
	var agent vector.Agent
	if agents != nil {
		agent = must.Get(agents.OpenAgent(ctx, nil, env.Spec(), lanes))(b)
		defer agent.Close()
	}
	actions := vector.NewActions(env.Spec(), lanes)
	feedback := vector.NewFeedback(env.Spec(), lanes)
	for i := range lanes {
		actions.Signals[i], feedback.Signals[i] = vector.NewRun, vector.NewRun
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := env.Step(ctx, actions, &feedback.TimeSteps); err != nil {
			b.Fatal(err)
		}
		if agent != nil {
			if err := agent.Step(ctx, feedback, &actions.Actions); err != nil {
				b.Fatal(err)
			}
		}
		proceed(actions.Signals)
		proceed(feedback.Signals)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*lanes), "ns/lane")
}

// BenchmarkProcesses steps a slow environment (about 1 µs per lane) in one process
// and in several.
func BenchmarkProcesses(b *testing.B) {
	for _, n := range []int{1, 2, 4} {
		b.Run(fmt.Sprintf("processes=%d", n), func(b *testing.B) {
			const lanes = 1024
			env, err := shards(b, n, "serve-environment").OpenEnvironment(b.Context(), []byte(`{"lane":-1,"fault":"endless","name":"test/slow@1","work":1000}`), lanes)
			if err != nil {
				b.Fatal(err)
			}
			defer env.Close()
			in, out := start(env.Spec(), lanes)
			for b.Loop() {
				if err := env.Step(b.Context(), in, &out); err != nil {
					b.Fatal(err)
				}
				proceed(in.Signals)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*lanes), "ns/lane")
		})
	}
}

package plugin_test

import (
	"fmt"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin"
)

// BenchmarkStep steps an environment alone, and an environment and an agent in
// turn, in process and through subprocesses. ns/lane is the time of a step of one
// lane. Episodes never end in it.
func BenchmarkStep(b *testing.B) {
	ctx := b.Context()
	for _, transport := range []string{"inprocess", "process"} {
		envs, agents := faultyEnvironment(), faultyAgent()
		if transport == "process" {
			envs = launch(b, plugin.LaunchOptions{}, "serve-environment")
			agents = launch(b, plugin.LaunchOptions{}, "serve-agent")
		}
		for _, lanes := range []int{1, 16, 64, 256, 1024} {
			for _, both := range []bool{false, true} {
				name := "environment"
				if both {
					name = "both"
				}
				b.Run(fmt.Sprintf("%s/%s/lanes=%d", name, transport, lanes), func(b *testing.B) {
					env, err := envs.OpenEnvironment(ctx, []byte(`{"lane":-1,"fault":"endless"}`), lanes)
					if err != nil {
						b.Fatal(err)
					}
					defer env.Close()
					agent, err := agents.OpenAgent(ctx, nil, env.Spec(), lanes)
					if err != nil {
						b.Fatal(err)
					}
					defer agent.Close()
					actions := framework.NewActions(env.Spec(), lanes)
					feedback := framework.NewFeedback(env.Spec(), lanes)
					for i := range lanes {
						actions.Signals[i], feedback.Signals[i] = framework.NewRun, framework.NewRun
					}
					b.ReportAllocs()
					for b.Loop() {
						if err := env.Step(ctx, actions, &feedback.TimeSteps); err != nil {
							b.Fatal(err)
						}
						if both {
							if err := agent.Step(ctx, feedback, &actions.Actions); err != nil {
								b.Fatal(err)
							}
						}
						proceed(actions.Signals)
						proceed(feedback.Signals)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*lanes), "ns/lane")
				})
			}
		}
	}
}

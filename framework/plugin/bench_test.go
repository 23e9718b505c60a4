package plugin_test

import (
	"fmt"
	"testing"

	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/plugin/internal/wire"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/cputime"
	"github.com/rlrun/rlrun/internal/must"
)

// unending are the parameters of an environment whose episodes do not end.
const unending = `{"lane":-1,"fault":"endless"}`

// overGRPC keeps a plugin from reading steps from its socket.
var overGRPC = plugin.LaunchConfig{Env: []string{wire.SocketVariable + "="}}

// BenchmarkStep steps an environment alone, and an environment and an agent in
// turn, in process and through subprocesses. ns/lane is the time of a step of one
// lane, cpu-ns/lane the processor time of all processes. Episodes never end in it.
func BenchmarkStep(b *testing.B) {
	b.Run("inprocess", func(b *testing.B) {
		benchmarkSteps(b, faultyEnvironment(), faultyAgent(), unending)
	})
	for name, o := range map[string]plugin.LaunchConfig{"process": {}, "grpc": overGRPC} {
		b.Run(name, func(b *testing.B) {
			benchmarkSteps(b, launch(b, o, "serve-environment"), launch(b, o, "serve-agent"), unending)
		})
	}
}

// benchmarkSteps steps no agent if agents is nil.
func benchmarkSteps(b *testing.B, envs, agents vector.Plugin, params string) {
	for _, lanes := range []int{1, 16, 64, 256, 1024} {
		b.Run(fmt.Sprintf("environment/lanes=%d", lanes), func(b *testing.B) {
			benchmarkStep(b, envs, nil, lanes, params)
		})
		if agents == nil {
			continue
		}
		b.Run(fmt.Sprintf("both/lanes=%d", lanes), func(b *testing.B) {
			benchmarkStep(b, envs, agents, lanes, params)
		})
	}
}

func benchmarkStep(b *testing.B, envs, agents vector.Plugin, lanes int, params string) {
	ctx := b.Context()
	env := must.Get(envs.OpenEnvironment(ctx, []byte(params), lanes))(b)
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
	var pids []int
	for _, p := range []vector.Plugin{envs, agents} {
		if p, ok := p.(*plugin.Process); ok {
			pids = append(pids, p.Pid())
		}
	}
	step := func() {
		if err := env.Step(ctx, actions, &feedback.TimeSteps); err != nil {
			b.Fatal(err)
		}
		if agent != nil {
			if err := agent.Step(ctx, feedback, &actions.Actions); err != nil {
				b.Fatal(err)
			}
		}
	}
	step() // begins the runs
	proceed(actions.Signals)
	proceed(feedback.Signals)
	b.ReportAllocs()
	began := cputime.Whole(pids...)
	for b.Loop() {
		step()
	}
	b.ReportMetric(float64(cputime.Whole(pids...)-began)/float64(b.N*lanes), "cpu-ns/lane")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*lanes), "ns/lane")
}

package finite_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"testing"

	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/internal/cputime"
	"github.com/rlrun/rlrun/internal/must"
)

// BenchmarkStates is a step in tasks of more and more states, of which a step touches one, through the
// whole loop on one core. It reports processor time, the start of a run left out, and the memory of a lane
// when its run has ended.
func BenchmarkStates(b *testing.B) {
	heap := func() float64 {
		var memory runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&memory)
		return float64(memory.HeapAlloc)
	}
	for _, agent := range []string{"q-learning", "bootstrap-q", "bayesian-q", "dyna-q", "mbie-eb", "optimistic-model", "ucbvi", "ucrl2", "r-max"} {
		for _, task := range []struct{ name, params string }{
			{"riverswim", `{"limit":0}`},
			{"gridworld", `{"rows":10,"cols":10,"slip":0.1}`},
			{"taxi", ``},
			{"gridworld", `{"rows":30,"cols":30,"slip":0.1}`},
		} {
			plugins := plugins()
			env := must.Get(plugins.Find(b, task.name).OpenEnvironment(b.Context(), json.RawMessage(task.params), 4))(b)
			states := env.Spec().Observation.(space.Discrete).N
			b.Run(fmt.Sprintf("%s/%s=%d", agent, task.name, states), func(b *testing.B) {
				runs, steps, before, first := []int{0, 1, 2, 3}, 5_000, heap(), 0
				x := must.Get(plugins.Find(b, agent).OpenAgent(b.Context(), nil, env.Spec(), len(runs)))(b)
				play := func(steps int) float64 {
					begun := cputime.Whole()
					must.Get(loop.Run(b.Context(), loop.Batch{Environment: env, Agent: x, Runs: runs, Seeds: seed.NewSource(1, env.Spec().ID), Steps: steps, Discount: 1}))(b)
					return float64(cputime.Whole() - begun)
				}
				starts, spent := 0.0, 0.0
				for b.Loop() {
					for i := range runs {
						runs[i] = first
						first++
					}
					starts += play(1)
					spent += play(steps)
				}
				b.ReportMetric((spent-starts)/float64(first*steps), "ns/step")
				b.ReportMetric(starts/float64(first)/1e3, "µs/start")
				b.ReportMetric((heap()-before)/float64(len(runs))/1e3, "kB/lane")
				b.ReportMetric(0, "ns/op")
				runtime.KeepAlive(x)
			})
		}
	}
}

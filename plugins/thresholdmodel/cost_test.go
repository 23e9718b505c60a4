package thresholdmodel

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/internal/cputime"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
)

// BenchmarkGarnet is a run on a Garnet (Archibald, McKinnon & Thomas 1995). A pair leads to one of three
// states, or of as many as the third number of its name. A tenth of the pairs pay 1 with a probability of
// their own. It reports processor time per step of the run, of its first fifth and of the last one, which is
// after the first visits.
func BenchmarkGarnet(b *testing.B) {
	for _, size := range []struct{ states, actions, successors, steps int }{
		{10, 4, 3, 20_000}, {100, 4, 3, 20_000}, {100, 4, 12, 20_000}, {300, 4, 3, 20_000}, {1_000, 4, 3, 50_000}, {50, 200, 3, 50_000}, {10_000, 4, 3, 100_000},
	} {
		successors, name := size.successors, fmt.Sprintf("%dx%d", size.states, size.actions)
		if successors > 3 {
			name += fmt.Sprintf("x%d", successors)
		}
		b.Run(name, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			pairs := size.states * size.actions
			next, until, pays := make([]int, pairs*successors), make([]float64, pairs*successors), make([]float64, pairs)
			for i := range pairs {
				last := (i + 1) * successors
				for k := last - successors; k < last-1; k++ {
					until[k] = rng.Float64()
				}
				until[last-1] = 1
				slices.Sort(until[last-successors : last])
				for k := last - successors; k < last; k++ {
					next[k] = rng.IntN(size.states)
				}
				if rng.Float64() < 0.1 {
					pays[i] = rng.Float64()
				}
			}
			spec := framework.Spec{ID: "test/garnet@1", Observation: space.Discrete{N: int64(size.states)}, Action: space.Discrete{N: int64(size.actions)}, RewardHigh: 1, Continuing: true, Steps: size.steps}
			x := agenttest.Lane[*agent](b, Plugin(), ``, spec)
			var all, early, late, paid float64
			run := uint64(0)
			for b.Loop() {
				rng := rand.New(rand.NewPCG(run, 1))
				x.Start(run)
				run++
				begun, a, s := cputime.Whole(), x.Begin(0), 0
				start := begun
				for t := range size.steps {
					switch t {
					case size.steps / 5:
						early += float64((cputime.Whole() - begun).Nanoseconds())
					case size.steps - size.steps/5:
						begun = cputime.Whole()
					}
					i, u, r := s*size.actions+a, rng.Float64(), 0.0
					if rng.Float64() < pays[i] {
						r = 1
					}
					k := i * successors
					for u >= until[k] {
						k++
					}
					s = next[k]
					paid += r
					a = x.Step(r, s)
				}
				late += float64((cputime.Whole() - begun).Nanoseconds())
				all += float64((cputime.Whole() - start).Nanoseconds())
			}
			var memory runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&memory)
			fifth := float64(b.N*(size.steps/5)) * 1e3
			b.ReportMetric(all/fifth/5, "µs/step")
			b.ReportMetric(early/fifth, "early-µs/step")
			b.ReportMetric(late/fifth, "late-µs/step")
			b.ReportMetric(float64(memory.HeapAlloc)/1e6, "MB")
			b.ReportMetric(paid/float64(b.N*size.steps), "reward")
			b.ReportMetric(float64(x.belief.States()), "states")
			b.ReportMetric(0, "ns/op")
			runtime.KeepAlive(x)
		})
	}
}

package thresholdmodel

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/internal/processor"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
)

// BenchmarkGarnet is a run on a Garnet (Archibald, McKinnon & Thomas 1995): a pair leads to one of
// three states, and a tenth of the pairs pay 1 with a probability of their own. It reports processor
// time per step of the first fifth of the run and of the last one, which is after the first visits.
func BenchmarkGarnet(b *testing.B) {
	const successors = 3
	for _, size := range []struct{ states, actions, steps int }{
		{10, 4, 20_000}, {100, 4, 20_000}, {300, 4, 20_000}, {1_000, 4, 50_000}, {50, 200, 50_000}, {10_000, 4, 100_000},
	} {
		b.Run(fmt.Sprintf("%dx%d", size.states, size.actions), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			pairs := size.states * size.actions
			next, until, pays := make([]int, pairs*successors), make([]float64, pairs*successors), make([]float64, pairs)
			for i := range pairs {
				x, y := rng.Float64(), rng.Float64()
				for k, p := range [successors]float64{min(x, y), max(x, y), 1} {
					next[i*successors+k], until[i*successors+k] = rng.IntN(size.states), p
				}
				if rng.Float64() < 0.1 {
					pays[i] = rng.Float64()
				}
			}
			spec := framework.Spec{ID: "test/garnet@1", Observation: space.Discrete{N: int64(size.states)}, Action: space.Discrete{N: int64(size.actions)}, RewardHigh: 1, Continuing: true, Steps: size.steps}
			x := agenttest.Lane[*agent](b, Plugin(), ``, spec)
			var early, late, paid float64
			run := uint64(0)
			for b.Loop() {
				rng := rand.New(rand.NewPCG(run, 1))
				x.Start(run)
				run++
				begun, a, s := processor.Time(), x.Begin(0), 0
				for t := range size.steps {
					switch t {
					case size.steps / 5:
						early += float64((processor.Time() - begun).Nanoseconds())
					case size.steps - size.steps/5:
						begun = processor.Time()
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
				late += float64((processor.Time() - begun).Nanoseconds())
			}
			var memory runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&memory)
			fifth := float64(b.N*(size.steps/5)) * 1e3
			b.ReportMetric(early/fifth, "early-µs/step")
			b.ReportMetric(late/fifth, "late-µs/step")
			b.ReportMetric(float64(memory.HeapAlloc)/1e6, "MB")
			b.ReportMetric(paid/float64(b.N*size.steps), "reward")
			b.ReportMetric(0, "ns/op")
			runtime.KeepAlive(x)
		})
	}
}

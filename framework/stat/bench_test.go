package stat

import (
	"math/rand/v2"
	"testing"

	"github.com/rlrun/rlrun/internal/each"
)

// What a report of many agents computes most: 64 samples of ten runs, and a pair of agents in 20
// environments.
func BenchmarkBootstrap(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	scores := func(environments int) Scores {
		return each.Of(make([]int, environments), func(int) []float64 {
			return each.Of(make([]int, 10), func(int) float64 { return rng.NormFloat64() })
		})
	}
	samples, x, y := scores(64), scores(20), scores(20)
	seeds := each.Of(x, func([]float64) uint64 { return rng.Uint64() })
	b.Run("iqm", func(b *testing.B) {
		for b.Loop() {
			BootstrapIQM(samples, 0.95, rng)
		}
	})
	b.Run("improvement", func(b *testing.B) {
		for b.Loop() {
			NewResampler(0.95, seeds).ProbabilityOfImprovement(x, y)
		}
	})
}

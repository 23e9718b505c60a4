package bandit

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

func arms(tb testing.TB, n int, opts PopulationConfig) ([]Population, *rand.Rand) {
	rng := rand.New(rand.NewPCG(1, 2))
	p := must.Get(NewPopulations(n, 16, Uniform{0, 1}, opts, rng))(tb)
	return p, rng
}

func BenchmarkPopulationUpdate(b *testing.B) {
	for mode := AllMembers; mode <= IndependentMember; mode++ {
		b.Run(mode.String(), func(b *testing.B) {
			p, rng := arms(b, 16, PopulationConfig{Mode: mode})
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				p[i&15].Update(float64(i>>4&1), rng)
			}
		})
	}
}

func BenchmarkPopulationDraw(b *testing.B) {
	p, rng := arms(b, 16, PopulationConfig{})
	b.ReportAllocs()
	i, sum := 0, 0.0
	for b.Loop() {
		i++
		arm := &p[i&15]
		m := rng.IntN(arm.Len())
		sum += arm.Take(m) + float64(arm.Rank(m))
	}
	_ = sum
}

func BenchmarkIndex(b *testing.B) {
	p, _ := arms(b, 16, PopulationConfig{})
	for kind := U; kind <= V; kind++ {
		b.Run(fmt.Sprintf("%v/exact", kind), func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				Index(kind, &p[i&15], 0.01, 0)
			}
		})
		b.Run(fmt.Sprintf("%v/table", kind), func(b *testing.B) {
			table := NewIndexTable(kind, 0.01, 16)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				table.Index(&p[i&15], 0)
			}
		})
		b.Run(fmt.Sprintf("%v/beta", kind), func(b *testing.B) {
			var d Belief = Beta{12, 5}
			b.ReportAllocs()
			for b.Loop() {
				Index(kind, d, 0.01, 0)
			}
		})
	}
}

func BenchmarkBestDeltaPopulation(b *testing.B) {
	p, _ := arms(b, 16, PopulationConfig{})
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		BestDelta(&p[i&15], Comparison{Known: 0.7}, 0.01)
	}
}

func BenchmarkThresholdBeta(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Threshold(Beta{12, 5}, Comparison{Known: 0.8})
	}
}

func BenchmarkBetaSample(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	d := Beta{12, 5}
	b.ReportAllocs()
	for b.Loop() {
		d.Sample(rng)
	}
}

func BenchmarkProbExceedsBeta(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		ProbExceeds(Beta{12, 5}, Beta{3, 4}, 0.01)
	}
}

func BenchmarkGittins(b *testing.B) {
	for _, gamma := range []float64{0.9, 0.99} {
		for _, tol := range []float64{1e-4, 1e-6, 1e-9} {
			b.Run(fmt.Sprintf("gamma=%v/tol=%v", gamma, tol), func(b *testing.B) {
				n := 0
				solver := NewGittinsSolver(gamma, tol)
				for b.Loop() {
					solver.Index(1+float64(n&31), 1+float64(n>>5&31)+float64(n>>10)/1024)
					n++
				}
			})
		}
	}
}

func BenchmarkPlan(b *testing.B) {
	priors := []Beta{{1, 1}, {1, 1}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := NewPlan(priors, Finite(49), 50, 0); err != nil {
			b.Fatal(err)
		}
	}
}

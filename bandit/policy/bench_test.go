package policy

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// BenchmarkStep measures a step, that is selection, a Bernoulli reward and the
// update, over whole runs of 10,000 steps from a fresh start, of arms with means
// uniform on [0,1]; beliefs have the defaults, populations of 16 among them.
func BenchmarkStep(b *testing.B) {
	const steps = 10_000
	for _, c := range []struct {
		name   string
		spec   Spec
		belief BeliefSpec
	}{
		{"epsilon-greedy", Spec{Kind: "epsilon-greedy"}, BeliefSpec{}},
		{"thompson", Spec{Kind: "thompson"}, BeliefSpec{}},
		{"optimistic-stochastic", Spec{Kind: "optimistic-stochastic"}, BeliefSpec{}},
		{"vpi", Spec{Kind: "vpi"}, BeliefSpec{}},
		{"ucb1", Spec{Kind: "ucb1"}, BeliefSpec{}},
		{"thompson-beta", Spec{Kind: "thompson"}, BeliefSpec{Kind: "beta"}},
		{"index-v", Spec{Kind: "index"}, BeliefSpec{}},
		{"optimistic", Spec{Kind: "optimistic"}, BeliefSpec{}},
		{"kl-ucb", Spec{Kind: "kl-ucb"}, BeliefSpec{}},
	} {
		for _, arms := range []int{16, 128, 256} {
			b.Run(fmt.Sprintf("%s/arms=%d", c.name, arms), func(b *testing.B) {
				maker, err := NewMaker(c.spec, c.belief, Task{Arms: arms, Low: 0, High: 1})
				if err != nil {
					b.Fatal(err)
				}
				rng := rand.New(rand.NewPCG(1, 2))
				means := make([]float64, arms)
				var spent time.Duration
				for b.Loop() {
					p := maker.New(rng)
					for i := range means {
						means[i] = rng.Float64()
					}
					start := time.Now()
					for range steps {
						arm := p.SelectArm(rng)
						reward := 0.0
						if rng.Float64() < means[arm] {
							reward = 1
						}
						p.Update(arm, reward, rng)
					}
					spent += time.Since(start)
				}
				ns := float64(spent.Nanoseconds()) / float64(b.N) / steps
				b.ReportMetric(ns, "ns/step")
				b.ReportMetric(1e3/ns, "Msteps/s")
			})
		}
	}
}

// BenchmarkTurns is BenchmarkStep with so many bandits that take turns, as lanes of
// the framework do: each finds the branches and cache lines of another.
func BenchmarkTurns(b *testing.B) {
	const steps = 10_000
	for _, c := range []struct {
		name   string
		spec   Spec
		belief BeliefSpec
	}{
		{"ucb1", Spec{Kind: "ucb1"}, BeliefSpec{}},
		{"thompson-beta", Spec{Kind: "thompson"}, BeliefSpec{Kind: "beta"}},
	} {
		for _, arms := range []int{16, 128} {
			for _, bandits := range []int{1, 4} {
				b.Run(fmt.Sprintf("%s/arms=%d/bandits=%d", c.name, arms, bandits), func(b *testing.B) {
					maker, err := NewMaker(c.spec, c.belief, Task{Arms: arms, Low: 0, High: 1})
					if err != nil {
						b.Fatal(err)
					}
					rngs := make([]*rand.Rand, bandits)
					for k := range rngs {
						rngs[k] = rand.New(rand.NewPCG(1, uint64(k)))
					}
					means := make([]float64, bandits*arms)
					policies := make([]Policy, bandits)
					var spent time.Duration
					for b.Loop() {
						for k, rng := range rngs {
							policies[k] = maker.New(rng)
						}
						for i := range means {
							means[i] = rngs[0].Float64()
						}
						start := time.Now()
						for range steps {
							for k, p := range policies {
								arm := p.SelectArm(rngs[k])
								reward := 0.0
								if rngs[k].Float64() < means[k*arms+arm] {
									reward = 1
								}
								p.Update(arm, reward, rngs[k])
							}
						}
						spent += time.Since(start)
					}
					b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N)/steps/float64(bandits), "ns/step")
				})
			}
		}
	}
}

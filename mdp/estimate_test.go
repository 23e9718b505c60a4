package mdp_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// observe fills counts with n visits of every pair.
func observe(t *testing.T, m *mdp.Tabular, n int, rng *rand.Rand) *mdp.Counts {
	t.Helper()
	c := must.Get(mdp.NewCounts(m.NumStates(), m.NumActions()))(t)
	for s := range m.NumStates() {
		for a := range m.NumActions() {
			for range n {
				u, r := m.Step(s, a, rng)
				c.Update(s, a, r, u)
			}
		}
	}
	return c
}

func riverSwim(t *testing.T) (*mdp.Tabular, mdp.Deterministic) {
	t.Helper()
	task := must.Get(catalog.RiverSwim(6))(t)
	return task.Model, mdp.Constant(6, 1)
}

// For each of 40 data sets the band contains all true times at once. It does so with
// probability 0.95, and with far more by the union bounds in it. With enough data it
// closes.
func TestMixingBand(t *testing.T) {
	m, pi := riverSwim(t)
	exact := must.Get(mdp.MixingTime(m, pi, mdp.MixingConfig{}))(t)
	rng := rand.New(rand.NewPCG(1, 0))
	width := map[int]int{}
	for _, n := range []int{10, 1000, 300_000} {
		runs := 40
		if n > 1000 {
			runs = 1
		}
		for range runs {
			b := must.Get(observe(t, m, n, rng).MixingBand(pi, mdp.MixingConfig{}))(t)
			width[n] = 0
			for s, row := range exact.T {
				for a, T := range row {
					if T < b.Low[s][a] || T > b.High[s][a] {
						t.Errorf("n = %d: T(%d,%d) = %d is outside %d..%d", n, s, a, T, b.Low[s][a], b.High[s][a])
					}
					if b.Plugin.T[s][a] < b.Low[s][a] || b.Plugin.T[s][a] > b.High[s][a] {
						t.Errorf("the band excludes its own centre")
					}
					if b.High[s][a] == mdp.Never {
						width[n] = mdp.Never
					} else if width[n] != mdp.Never {
						width[n] = max(width[n], b.High[s][a]-b.Low[s][a])
					}
				}
			}
		}
	}
	if width[10] != mdp.Never || width[300_000] > 5 {
		t.Errorf("widest band by data: %v", width)
	}
}

// The 0.9-quantile over a posterior that has seen much is near the truth, and
// untried pairs make times longer if they are self-loops, shorter if not.
func TestMixingTimesOfAPosterior(t *testing.T) {
	m, pi := riverSwim(t)
	exact := must.Get(mdp.MixingTime(m, pi, mdp.MixingConfig{}))(t)
	rng := rand.New(rand.NewPCG(2, 0))
	quantile := func(visits int, seenOnly bool) int {
		d := must.Get(mdp.NewDirichlet(mdp.DirichletPrior{States: 6, Actions: 2, Alpha: 1, SeenOnly: seenOnly}))(t)
		for s := range 4 { // the last two states have not been tried
			for a := range 2 {
				for range visits {
					u, r := m.Step(s, a, rng)
					d.Update(s, a, r, u)
				}
			}
		}
		for s := 4; s < 6 && visits > 1000; s++ {
			for a := range 2 {
				for range visits {
					u, r := m.Step(s, a, rng)
					d.Update(s, a, r, u)
				}
			}
		}
		var times []int
		for range 50 {
			mix, err := mdp.MixingTime(d.Sample(rng), pi, mdp.MixingConfig{})
			if mix == nil {
				t.Fatal(err)
			}
			times = append(times, mix.Max)
		}
		slices.Sort(times)
		return times[44]
	}
	if q := quantile(20_000, false); q < exact.Max-1 || q > exact.Max+1 {
		t.Errorf("with much data the quantile is %d, the truth %d", q, exact.Max)
	}
	if plain, safe := quantile(50, false), quantile(50, true); plain >= exact.Max || safe <= exact.Max {
		t.Errorf("with two untried states: %d from a plain Dirichlet, %d with self-loops, truth %d", plain, safe, exact.Max)
	}
}

// Samples of a posterior are models, whatever has been seen.
func TestBeliefsSampleModels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, actions := rapid.IntRange(1, 5).Draw(t, "states"), rapid.IntRange(1, 3).Draw(t, "actions")
		d := must.Get(mdp.NewDirichlet(mdp.DirichletPrior{States: n, Actions: actions,
			Alpha: rapid.SampledFrom([]float64{1e-6, 0.1, 1}).Draw(t, "alpha"), SeenOnly: rapid.Bool().Draw(t, "seenOnly")}))(t)
		b := must.Get(mdp.NewBootstrap(d, 3, 1, rapid.SampledFrom([]mdp.Mask{mdp.Poisson, mdp.DoubleOrNothing, mdp.Exponential}).Draw(t, "mask"), rapid.Uint64().Draw(t, "seed")))(t)
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			s, a := rapid.IntRange(0, n-1).Draw(t, "s"), rapid.IntRange(0, actions-1).Draw(t, "a")
			r, u := rapid.Float64Range(0, 1).Draw(t, "r"), rapid.IntRange(0, n-1).Draw(t, "u")
			d.Update(s, a, r, u)
			b.Update(s, a, r, u)
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "sample"), 0))
		for _, belief := range []interface {
			Mean() *mdp.Tabular
			Sample(rng *rand.Rand) *mdp.Tabular
		}{d, b} {
			for _, m := range []*mdp.Tabular{belief.Mean(), belief.Sample(rng)} {
				for s := range n {
					for a := range actions {
						sum := 0.0
						next, prob := m.Transition(s, a)
						for k, p := range prob {
							if sum += p; !(p > 0) || k > 0 && next[k] <= next[k-1] {
								t.Fatalf("row %v %v", next, prob)
							}
						}
						if !near(sum, 1, 1e-9) || !(m.Reward(s, a) >= 0 && m.Reward(s, a) <= 1) {
							t.Fatalf("sum %v, reward %v", sum, m.Reward(s, a))
						}
					}
				}
			}
		}
	})
}

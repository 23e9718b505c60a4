package policy

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/bandit"
)

// share returns, for a value of compare, the share of pairs of original members that differ by δ.
func share(c string, i, j []float64, delta float64) float64 {
	count, all := 0, 0
	for k := range i {
		for l := range j {
			if c == withPairs && k != l {
				continue
			}
			all++
			if i[k] >= j[l]+delta {
				count++
			}
		}
	}
	return float64(count) / float64(all)
}

func originals(p *bandit.Population) []float64 {
	x := make([]float64, p.Len())
	for k := range x {
		x[k] = p.Identified(k)
	}
	return x
}

// TestPairsPlainly runs both algorithms against their definition on original
// members, and the published program's rule against a transcript of it.
func TestPairsPlainly(t *testing.T) {
	for seed := range uint64(60) {
		w := newWorld(t, seed)
		if w.members > 16 {
			continue
		}
		compare := []string{withMean, withPairs, withAllPairs}[seed%3]
		gamma := []float64{0.5, 0.9, 0.99}[w.rng.IntN(3)]
		c := newClock(bandit.Discounted(gamma), 1)
		program := w.rng.IntN(2) == 0
		p := newStochasticPairs(w.beliefs, c, 0, w.rng.IntN(3) == 0, compare, program)
		ranks := make([]int, w.arms)
		order := make([]entry, w.arms)
		for i := range order {
			order[i].arm = int32(i)
		}
		w.play(t, p, 60, func() *rand.Rand {
			return scripted(&p.members, order, w.beliefs.plainGreedy(), ranks)
		}, func() int {
			w.drawRanks(&p.members, ranks)
			j := w.beliefs.plainGreedy()
			q := w.beliefs.mean(j)
			bar, selected := 0.0, j
			if program {
				bar = q
			}
			for i := range w.arms {
				if i == j {
					continue
				}
				a := &w.beliefs.populations[i]
				delta := a.Member(ranks[i]) - q
				prob := float64(a.Rank(ranks[i])) / float64(w.members)
				if compare != withMean {
					prob = share(compare, originals(a), originals(&w.beliefs.populations[j]), delta)
				}
				u := delta*prob - (1-prob)*(p.share*q)
				if program {
					u *= p.horizon.Total()
				}
				if u > 0 && u > bar {
					selected, bar = i, u
					if program {
						bar = float64(i)
					}
				}
			}
			return selected
		})
	}
}

// TestOptimisticPairsPlainly tries all differences as δ.
func TestOptimisticPairsPlainly(t *testing.T) {
	for seed := range uint64(60) {
		w := newWorld(t, seed)
		if w.members > 16 {
			continue
		}
		compare := []string{withPairs, withAllPairs}[seed%2]
		kind := bandit.IndexKind(w.rng.IntN(3))
		p := newOptimisticPairs(w.beliefs, newClock(bandit.Discounted(0.98), 1), kind, 0, compare)
		for range 40 {
			j := w.beliefs.plainGreedy()
			q := w.beliefs.mean(j)
			y := originals(&w.beliefs.populations[j])
			scores := make([]float64, w.arms)
			for i := range scores {
				if i == j {
					continue
				}
				x := originals(&w.beliefs.populations[i])
				product, u, gain, pairs := 0.0, -p.share*q, 0.0, 0.0
				for k := range x {
					for l := range y {
						if compare == withPairs && k != l {
							continue
						}
						d := x[k] - y[l]
						pairs++
						if d <= 0 {
							continue
						}
						prob := share(compare, x, y, d*(1-1e-12))
						product = max(product, d*prob)
						u = max(u, d*prob-(1-prob)*p.share*q)
						gain += d
					}
				}
				gap := p.share * (q - w.beliefs.mean(i))
				scores[i] = []float64{u, (1-p.share)*product - gap, (1-p.share)*gain/pairs - gap}[kind]
			}
			best := max(0, slices.Max(scores))
			arm := p.SelectArm(nil)
			if got := scores[arm]; got < best-1e-9 {
				t.Fatalf("seed %d: selected arm %d of advantage %v, the best has %v", seed, arm, got, best)
			}
			if best < -1e-9 && arm != j {
				t.Fatalf("seed %d: explored for nothing", seed)
			}
			p.Update(arm, w.reward(arm), w.rng)
		}
	}
}

package policy

// Every fast path against its plain definition, decision for decision.

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/internal/must"
)

const worlds = 150

func eachWorld(t *testing.T, check func(t *testing.T, w *world)) {
	t.Helper()
	for seed := range uint64(worlds) {
		check(t, newWorld(t, seed))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func TestGreedyPlainly(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.play(t, &greedy{newRanked(w.beliefs)}, 300, noRNG, w.beliefs.plainGreedy)
	})
}

// TestThompsonPlainly gives all arms a drawn member and takes the largest.
func TestThompsonPlainly(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		p := newThompsonPopulation(w.beliefs, w.rng.IntN(4) == 0)
		ranks := make([]int, w.arms)
		w.play(t, p, 300, func() *rand.Rand {
			return scripted(&p.members, p.tops.entries, -1, ranks)
		}, func() int {
			w.drawRanks(&p.members, ranks)
			return argmax(w.arms, func(i int) float64 { return w.beliefs.populations[i].Member(ranks[i]) })
		})
	})
}

// drawRanks draws the ranks of all arms.
func (w *world) drawRanks(m *members, ranks []int) {
	m.drawn = w.rng.IntN(m.k)
	for i := range ranks {
		if ranks[i] = w.rng.IntN(w.members); m.common {
			ranks[i] = place(&w.beliefs.populations[i], m.drawn)
		}
	}
}

// TestStochasticPlainly scores all arms by Algorithm 2.
func TestStochasticPlainly(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		c := w.clock()
		low := []float64{0, 0, -1, 0.3}[w.rng.IntN(4)]
		p := newStochasticPopulation(w.beliefs, c, low, w.rng.IntN(4) == 0)
		p.excess.size = 20 // tune often
		ranks := make([]int, w.arms)
		w.play(t, p, 300, func() *rand.Rand {
			return scripted(&p.members, p.bounds.entries, w.beliefs.plainGreedy(), ranks)
		}, func() int {
			w.drawRanks(&p.members, ranks)
			return plainStochastic(w.beliefs.populations, ranks, p.share, low)
		})
	})
}

// plainStochastic is Algorithm 2 with given draws.
func plainStochastic(arms []bandit.Population, ranks []int, share, low float64) int {
	j := argmax(len(arms), func(i int) float64 { return arms[i].Mean() })
	q := arms[j].Mean()
	best, selected := 0.0, j
	for i := range arms {
		if i == j {
			continue
		}
		x := arms[i].Member(ranks[i])
		at := 0
		for m := range arms[i].Len() {
			if arms[i].Member(m) >= x {
				at++
			}
		}
		p := float64(at) / float64(arms[i].Len())
		if u := (x-q)*p - (1-p)*(share*(q-low)); u > best {
			best, selected = u, i
		}
	}
	return selected
}

func TestVPIPlainly(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		p := newVPI(w.beliefs)
		p.excess.size = 20
		w.play(t, p, 300, noRNG, func() int {
			j := w.beliefs.plainGreedy()
			q := w.beliefs.mean(j)
			second := math.Inf(-1)
			for i := range w.arms {
				if i != j {
					second = max(second, w.beliefs.mean(i))
				}
			}
			return argmax(w.arms, func(i int) float64 {
				a := &w.beliefs.populations[i]
				if i != j {
					return a.Mean() + a.Gain(q)
				}
				sum := 0.0
				for m := w.members - 1; m >= 0; m-- { // in this order it rounds alike
					sum += max(0, second-a.Member(m))
				}
				return q + sum/float64(w.members)
			})
		})
	})
}

func TestOptimisticPlainly(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		c := w.clock()
		kind := bandit.IndexKind(w.rng.IntN(3))
		low := []float64{0, 0, -1, 0.3}[w.rng.IntN(4)]
		byGamma := kind == bandit.U && w.rng.IntN(2) == 0
		p := newOptimistic(w.beliefs, c, kind, low, byGamma)
		w.play(t, p, 300, noRNG, func() int {
			j := w.beliefs.plainGreedy()
			q := w.beliefs.mean(j)
			best, selected := 1e-14*(math.Abs(q)+math.Abs(p.bounds.entries[0].key)), j
			for i := range w.arms {
				if i == j {
					continue
				}
				score := bandit.BestAdvantage(kind, p.learners[i], q, low, p.share)
				if plain := plainAdvantage(&w.beliefs.populations[i], kind, p.share, q, low); math.Abs(plain-score) > 1e-12*(1+math.Abs(q-low)) {
					t.Errorf("advantage %v, plainly %v", score, plain)
				}
				if byGamma {
					th := bandit.Threshold(&w.beliefs.populations[i], bandit.Comparison{Known: q, LowerBound: low, Hold: p.hold})
					if score = th.PhiStar; !th.Explore(p.share) {
						continue
					}
					if selected == j {
						best, selected = score, i
					}
				}
				if score > best {
					best, selected = score, i
				}
			}
			return selected
		})
	})
}

// plainAdvantage is the formula for each member as x.
func plainAdvantage(a *bandit.Population, kind bandit.IndexKind, share, q, low float64) float64 {
	k := float64(a.Len())
	product, u, sum := 0.0, -share*(q-low), 0.0
	for m := range a.Len() {
		delta, p := a.Member(m)-q, float64(m+1)/k
		product = max(product, delta*p)
		u = max(u, delta*p-(1-p)*share*(q-low))
		sum += max(0, delta)
	}
	gap := share * (q - a.Mean())
	switch kind {
	case bandit.U:
		return u
	case bandit.UPlus:
		return (1-share)*product - gap
	}
	return (1-share)*sum/k - gap
}

func TestIndexPlainly(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		p := newIndex(w.beliefs, w.clock(), bandit.IndexKind(w.rng.IntN(3)), 0)
		w.play(t, p, 300, noRNG, func() int {
			for i := range w.arms {
				if got, want := p.index(i), bandit.Index(p.kind, p.learners[i], p.share, 0); math.Abs(got-want) > 1e-12*(1+math.Abs(want)) {
					t.Errorf("index %v, want %v", got, want)
				}
			}
			return argmax(w.arms, p.index)
		})
	})
}

// TestRisingPlainly checks the blocks of the upper confidence bounds.
func TestRisingPlainly(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.wild = false
		var p *upperConfidence
		if w.rng.IntN(2) == 0 {
			p = newUCB1(w.arms, 1, []float64{0, 0.5, 2}[w.rng.IntN(3)])
		} else {
			p = newKLUCB(w.arms, 0, 1, []float64{0, 3}[w.rng.IntN(2)])
		}
		w.play(t, p, 500, noRNG, func() int {
			for i, n := range p.pulls {
				if n == 0 {
					return i
				}
			}
			return argmax(w.arms, func(i int) float64 { return p.index(i, p.level(float64(p.now))) })
		})
	})
	for seed := range uint64(40) { // rewards that are never equal, and such that often are
		many := Task{Arms: fewArms + 1 + int(seed)*4, Low: 0, High: 1}
		p, plain, rng := must.Get(New(UCB1{}, nil, many, nil))(t).(*shortlist), newUCB1(many.Arms, 1, 2), newRNG(seed)
		for step := range 3000 {
			got, want := p.SelectArm(nil), plain.SelectArm(nil)
			if got != want {
				t.Fatalf("seed %d, step %d: arm %d, want %d", seed, step, got, want)
			}
			reward := rng.Float64()
			if seed%2 == 0 {
				reward = math.Round(reward)
			}
			if step%50 == 0 {
				got = rng.IntN(many.Arms) // somebody else's choice
			}
			p.Update(got, reward, nil)
			plain.Update(got, reward, nil)
		}
	}
	for seed := range uint64(20) {
		w := newWorld(t, seed)
		w.wild = false
		b := beliefs{}
		for range w.arms {
			b.learners = append(b.learners, &bandit.Beta{A: 1, B: 1})
		}
		p := newBayesUCB(b, 1)
		w.play(t, p, 60, noRNG, func() int {
			return argmax(w.arms, func(i int) float64 { return p.index(i, p.level(float64(p.now))) })
		})
	}
}

// TestOtherBeliefsPlainly runs the searches that rest on indices of beliefs that
// are not populations.
func TestOtherBeliefsPlainly(t *testing.T) {
	for seed := range uint64(12) {
		w := newWorld(t, seed)
		w.arms, w.wild = min(w.arms, 1+w.rng.IntN(6)), false
		b := beliefs{}
		for range w.arms {
			if seed%2 == 0 {
				b.learners = append(b.learners, &bandit.Beta{A: 1, B: 1})
			} else {
				b.learners = append(b.learners, &bandit.Gaussian{Mu: 0.5, Sigma: 0.3, Noise: 0.5})
			}
		}
		// The beliefs are symmetric, and so are many advantages: arms that
		// are equal up to the error of the search may be taken for each other.
		close := func(got, want float64) bool { return math.Abs(got-want) < 1e-8 }
		kind := bandit.IndexKind(seed % 3)
		o := newOptimistic(b, w.clock(), kind, 0, false)
		v := newVPI(b)
		for range 60 {
			j := b.plainGreedy()
			q := b.mean(j)
			score := func(i int) float64 {
				if i == j {
					return 0
				}
				return bandit.BestAdvantage(o.kind, o.learners[i], q, o.low, o.share)
			}
			best := score(argmax(w.arms, score))
			if got := score(o.SelectArm(nil)); !close(got, best) {
				t.Fatalf("seed %d: optimistic selected an arm of advantage %v, not %v", seed, got, best)
			}
			second, ok := v.bestOther(j)
			value := func(i int) float64 {
				if i == j {
					if !ok {
						return q
					}
					return q + v.regret(j, second)
				}
				return b.mean(i) + b.learners[i].Gain(q)
			}
			best = value(argmax(w.arms, value))
			arm := v.SelectArm(nil)
			if got := value(arm); !close(got, best) {
				t.Fatalf("seed %d: vpi selected an arm of value %v, not %v", seed, got, best)
			}
			r := w.reward(arm)
			v.Update(arm, r, nil)
			o.tick()
			o.means.set(arm, b.mean(arm)) // the belief is the same one
			o.greedy = o.means.first()
			o.bounds.rebuild(o.bound)
		}
	}
}

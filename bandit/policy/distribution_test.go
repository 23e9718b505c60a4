package policy

// Randomised policies in a fixed state, against the exact probabilities of
// their selections. Each comparison is a chi-square test that fails by chance
// once in a million; all generators have fixed seeds.

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/internal/must"
)

// agree selects n arms and tests their frequencies against the probabilities.
func agree(t *testing.T, what string, p Policy, seed uint64, n int, probs []float64) {
	t.Helper()
	rng := newRNG(seed)
	counts := make([]int, len(probs))
	for range n {
		counts[p.SelectArm(rng)]++
	}
	x, freedom := chiSquare(counts, probs)
	if freedom < 1 {
		t.Fatalf("%s: %v leaves nothing to test", what, probs)
	}
	if limit := (distuv.ChiSquared{K: float64(freedom)}).Quantile(1 - 1e-6); x > limit {
		t.Errorf("%s: chi-square %.1f > %.1f with %d degrees of freedom\ncounts %v\nof %v", what, x, limit, freedom, counts, probs)
	}
}

// betaBeliefs returns the given beliefs in one array.
func betaBeliefs(ds ...bandit.Beta) (beliefs, []bandit.Beta) {
	b := beliefs{}
	for i := range ds {
		b.learners = append(b.learners, &ds[i])
	}
	return b, ds
}

// maxProbabilities returns P(q_i > q_j for all j ≠ i) for independent beta beliefs, by
// the midpoint rule on arms' distribution functions. The mass of arm i in a cell wins
// against the mass that the others have below its middle.
func maxProbabilities(ds []bandit.Beta) []float64 {
	const cells = 8_000
	probs := make([]float64, len(ds))
	upper := make([]float64, len(ds))
	for i := range upper {
		upper[i] = 1
	}
	for c := range cells {
		lo, hi := float64(c)/cells, float64(c+1)/cells
		next := make([]float64, len(ds))
		middle := make([]float64, len(ds))
		for i, d := range ds {
			next[i] = d.Exceed(hi)
			middle[i] = 1 - d.Exceed((lo+hi)/2)
		}
		for i := range ds {
			p := upper[i] - next[i]
			for j := range ds {
				if j != i {
					p *= middle[j]
				}
			}
			probs[i] += p
		}
		upper = next
	}
	return probs
}

func TestThompsonBetaDistribution(t *testing.T) {
	for name, ds := range map[string][]bandit.Beta{
		"flat":          {{A: 1, B: 1}, {A: 1, B: 1}, {A: 1, B: 1}},
		"young":         {{A: 1, B: 1}, {A: 2, B: 1}, {A: 1, B: 3}, {A: 2, B: 2}, {A: 3, B: 1.5}},
		"contenders":    {{A: 40, B: 20}, {A: 45, B: 20}, {A: 30, B: 18}, {A: 60, B: 28}},
		"one sharp":     {{A: 800, B: 200}, {A: 8, B: 3}, {A: 3, B: 2}, {A: 20, B: 10}, {A: 2, B: 9}},
		"below one":     {{A: 0.3, B: 0.5}, {A: 0.5, B: 2}, {A: 2, B: 0.7}, {A: 4, B: 3}},
		"near the ends": {{A: 1, B: 60}, {A: 1, B: 40}, {A: 2, B: 90}, {A: 1.5, B: 50}},
		"near one":      {{A: 60, B: 1}, {A: 40, B: 1}, {A: 90, B: 2}, {A: 50, B: 1.5}},
		"many rare":     slices.Concat([]bandit.Beta{{A: 60, B: 20}}, slices.Repeat([]bandit.Beta{{A: 14, B: 9}}, 12), slices.Repeat([]bandit.Beta{{A: 120, B: 60}}, 12)),
		"hopeless":      {{A: 900, B: 100}, {A: 880, B: 120}, {A: 10, B: 900}, {A: 5, B: 5}},
	} {
		b, betas := betaBeliefs(ds...)
		probs := maxProbabilities(ds)
		agree(t, name, newThompsonBeta(b, betas), 1, 150_000, probs)
		agree(t, name+", plainly", &thompson{b}, 2, 20_000, probs)
	}
}

// TestBoltzmannGumbelDistribution: with equal pulls it is softmax with temperature C/√n (Gumbel's trick).
func TestBoltzmannGumbelDistribution(t *testing.T) {
	const n = 16
	rewards := []float64{0.1, 0.5, 0.6, 0.9}
	p := must.Get(New(BoltzmannGumbel{Scale: new(0.8)}, nil, Task{Arms: len(rewards), High: 1}, nil))(t)
	probs, sum := make([]float64, len(rewards)), 0.0
	for arm, r := range rewards {
		for range n {
			p.Update(arm, r, nil)
		}
		probs[arm] = math.Exp(r / (0.8 / math.Sqrt(n)))
		sum += probs[arm]
	}
	for arm := range probs {
		probs[arm] /= sum
	}
	agree(t, "Boltzmann-Gumbel", p, 3, 50_000, probs)
}

// TestReach compares it with the exact tail: at most the stated probability lies
// beyond, and once it has learned something not much less.
func TestReach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := bandit.Beta{A: math.Exp(rapid.Float64Range(-1, 8).Draw(t, "ln a")), B: math.Exp(rapid.Float64Range(-1, 8).Draw(t, "ln b"))}
		b, betas := betaBeliefs(d)
		x := newThompsonBeta(b, betas).reaches.entries[0].key
		if x == 1 {
			return // always looked at
		}
		beyond, rare := d.Exceed(x), math.Exp(lnRare)
		if !(beyond <= rare*(1+1e-6)) || min(d.A, d.B) > 10 && beyond < rare/4 {
			t.Errorf("%v reaches to %v, and beyond it with probability %v, not %v", d, x, beyond, rare)
		}
	})
}

// TestLnBetaUpdates follows ln B(a,b) through updates of all kinds.
func TestLnBetaUpdates(t *testing.T) {
	b, betas := betaBeliefs(bandit.Beta{A: 1, B: 1}, bandit.Beta{A: 0.4, B: 3})
	p := newThompsonBeta(b, betas)
	rng := newRNG(3)
	for step := range 5000 {
		reward := float64(rng.IntN(2))
		if rng.IntN(10) == 0 {
			reward = rng.Float64()
		}
		p.Update(step%2, reward, rng)
		for i, d := range betas {
			if want := lnBeta(d); math.Abs(p.lnBeta[i]-want) > 1e-9*(1+math.Abs(want)) {
				t.Fatalf("step %d: ln B = %v, want %v", step, p.lnBeta[i], want)
			}
		}
	}
}

// populations returns arms of the given members.
func populations(t *testing.T, members ...[]float64) beliefs {
	t.Helper()
	b := beliefs{populations: make([]bandit.Population, len(members))}
	for i, x := range members {
		p := must.Get(bandit.NewPopulation(x, bandit.PopulationConfig{}))(t)
		b.populations[i] = *p
		b.learners = append(b.learners, &b.populations[i])
	}
	return b
}

// enumerate returns the distribution of selections over all draws of members,
// which are independent, or one number for all arms.
func enumerate(b beliefs, common bool, choose func(ranks []int) int) []float64 {
	n, k := b.len(), b.populations[0].Len()
	probs := make([]float64, n)
	ranks := make([]int, n)
	total := 1
	if common {
		total = k
	} else {
		for range n {
			total *= k
		}
	}
	for code := range total {
		c := code
		for i := range ranks {
			if common {
				ranks[i] = place(&b.populations[i], code)
			} else {
				ranks[i], c = c%k, c/k
			}
		}
		probs[choose(ranks)] += 1 / float64(total)
	}
	return probs
}

func TestPopulationDistributions(t *testing.T) {
	for name, b := range map[string]beliefs{
		"four of four": populations(t, []float64{0.1, 0.9, 0.3, 0.5}, []float64{0.2, 0.2, 0.8, 0.2}, []float64{0.6, 0.7, 0.4, 0.1}, []float64{0.95, 0, 0, 0}),
		"of three":     populations(t, []float64{0.1, 0.9, 0.3}, []float64{0.5, 0.5, 0.5}, []float64{0.6, 0.7, 0.4}),
		"with ties":    populations(t, []float64{1, 1, 0}, []float64{1, 0, 0}, []float64{1, 1, 1}, []float64{0.5, 1, 0.5}),
	} {
		for _, common := range []bool{false, true} {
			probs := enumerate(b, common, func(ranks []int) int {
				return argmax(b.len(), func(i int) float64 { return b.populations[i].Member(ranks[i]) })
			})
			if _, freedom := chiSquare([]int{1e4, 1e4, 1e4, 1e4}[:b.len()], probs); freedom > 0 {
				agree(t, "thompson, "+name, newThompsonPopulation(b, common), 4, 50_000, probs)
			}
			for _, gamma := range []float64{0.5, 0.9, 0.99} {
				c := newClock(bandit.Discounted(gamma), 1)
				probs := enumerate(b, common, func(ranks []int) int {
					return plainStochastic(b.populations, ranks, c.share, 0)
				})
				if _, freedom := chiSquare([]int{1e4, 1e4, 1e4, 1e4}[:b.len()], probs); freedom < 1 {
					continue // it always selects the same arm
				}
				agree(t, "Algorithm 2, "+name, newStochasticPopulation(b, c, 0, common), 5, 50_000, probs)
				agree(t, "Algorithm 2 arm by arm, "+name, newStochasticPairs(b, c, 0, common, withMean, false), 6, 50_000, probs)
			}
		}
	}
}

// TestStochasticOnOtherBeliefs compares Algorithm 2 on a continuous belief with
// a quadrature over the draws of two arms.
func TestStochasticOnOtherBeliefs(t *testing.T) {
	ds := []bandit.Beta{{A: 6, B: 4}, {A: 2, B: 2}, {A: 1, B: 1.5}}
	b, _ := betaBeliefs(ds...)
	for _, gamma := range []float64{0.97, 0.995} {
		c := newClock(bandit.Discounted(gamma), 1)
		const cells = 2000
		score := func(d bandit.Beta) []float64 {
			u := make([]float64, cells)
			for k := range u {
				// A draw of probability p above it has a uniform p.
				x := upperQuantile(&d, (float64(k)+0.5)/cells)
				p := d.Exceed(x)
				u[k] = (x-0.6)*p - (1-p)*c.share*0.6
			}
			return u
		}
		u1, u2 := score(ds[1]), score(ds[2])
		probs := make([]float64, 3)
		for _, a := range u1 {
			for _, b := range u2 {
				switch {
				case a <= 0 && b <= 0:
					probs[0]++
				case a >= b:
					probs[1]++
				default:
					probs[2]++
				}
			}
		}
		for i := range probs {
			probs[i] /= cells * cells
		}
		agree(t, "Algorithm 2 on betas", &stochastic{timed{newRanked(b), c}, 0}, 7, 20_000, probs)
	}
}

func TestSimpleDistributions(t *testing.T) {
	b := populations(t, []float64{0.2}, []float64{0.7}, []float64{0.6}, []float64{-0.1})
	agree(t, "uniform", uniform{4}, 8, 100_000, []float64{0.25, 0.25, 0.25, 0.25})

	e := &epsilonGreedy{newRanked(b), schedule{value: 0.2}}
	agree(t, "epsilon-greedy", e, 9, 100_000, []float64{0.05, 0.85, 0.05, 0.05})
	e.epsilon = schedule{value: 0.8, decay: 0.5, t: 2} // 0.8/(1+0.5·2)
	agree(t, "decaying epsilon-greedy", e, 10, 100_000, []float64{0.1, 0.7, 0.1, 0.1})

	s := &softmax{newRanked(b), schedule{value: 0.5}, make([]float64, 4)}
	probs := make([]float64, 4)
	sum := 0.0
	for i, q := range []float64{0.2, 0.7, 0.6, -0.1} {
		probs[i] = math.Exp(q / 0.5)
		sum += probs[i]
	}
	for i := range probs {
		probs[i] /= sum
	}
	agree(t, "softmax", s, 11, 50_000, probs)
}

// TestSchedulesDecay counts rewards, not selections.
func TestSchedulesDecay(t *testing.T) {
	b := populations(t, []float64{0.2}, []float64{0.7})
	e := &epsilonGreedy{newRanked(b), schedule{value: 1, decay: 1}}
	for range 3 {
		e.Update(0, 1, nil)
	}
	if got := e.epsilon.now(); got != 0.25 {
		t.Errorf("epsilon after 3 rewards is %v, want 1/4", got)
	}
}

// TestDrawnMemberLearns: with update mode drawn, the member that an arm was
// selected by is the one that learns.
func TestDrawnMemberLearns(t *testing.T) {
	rng := newRNG(12)
	for _, draw := range []string{"per-arm", "common"} {
		for _, compare := range []string{"", "pairs"} {
			for _, spec := range []Spec{Thompson{draw}, OptimisticStochastic{Draw: draw, Compare: compare}} {
				p := must.Get(New(spec, PopulationBelief{Update: "drawn", Members: new(4), Steps: Steps{Step: new(0.5)}}, Task{Arms: 3, High: 1}, rng))(t)
				var b beliefs
				var m *members
				switch p := p.(type) {
				case *thompsonPopulation:
					b, m = p.beliefs, &p.members
				case *stochasticPopulation:
					b, m = p.beliefs, &p.members
				case *stochasticPairs:
					b, m = p.beliefs, &p.members
				}
				for step := range 200 {
					arm := p.SelectArm(rng)
					before := make([]float64, 4)
					for k := range before {
						before[k] = b.populations[arm].Identified(k)
					}
					p.Update(arm, float64(step%2), rng)
					moved := 0
					for k := range before {
						if b.populations[arm].Identified(k) == before[k] {
							continue
						}
						moved++
						if draw == "common" && k != m.drawn {
							t.Fatalf("%T: member %d learned, %d was drawn", spec, k, m.drawn)
						}
					}
					if moved > 1 {
						t.Fatalf("%T: %d members learned", spec, moved)
					}
				}
			}
		}
	}
}

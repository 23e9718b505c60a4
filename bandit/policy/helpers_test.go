package policy

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/internal/must"
)

func newRNG(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// coarse is a prior of few values, which makes ties.
type coarse struct{ bandit.Uniform }

func (c coarse) Sample(rng *rand.Rand) float64 { return math.Round(4*rng.Float64()) / 4 }

// world is a random bandit problem on populations.
type world struct {
	arms, members int
	rng           *rand.Rand
	beliefs       beliefs
	means         []float64
	wild          bool // rewards outside [0,1], too
}

// newWorld draws a problem: few or many arms, members from one on, often with
// ties, any update mode, sometimes populations that have all but collapsed.
func newWorld(t *testing.T, seed uint64) *world {
	rng := newRNG(seed)
	w := &world{rng: rng, arms: 1 + rng.IntN(40), wild: rng.IntN(4) == 0}
	w.members = []int{1, 2, 3, 7, 16, 16, 64}[rng.IntN(7)]
	if rng.IntN(8) == 0 {
		w.arms = 1 + rng.IntN(2)
	}
	var prior bandit.Belief = bandit.Uniform{Lo: 0, Hi: 1}
	if rng.IntN(2) == 0 {
		prior = coarse{bandit.Uniform{Lo: 0, Hi: 1}}
	}
	opts := bandit.PopulationConfig{Step: []float64{0.01, 0.1, 0.5, 1}[rng.IntN(4)]}
	if rng.IntN(3) == 0 {
		opts.Mode = bandit.UpdateMode(rng.IntN(5))
	}
	p := must.Get(bandit.NewPopulations(w.arms, w.members, prior, opts, rng))(t)
	w.beliefs = beliefs{populations: p}
	for i := range p {
		w.beliefs.learners = append(w.beliefs.learners, &p[i])
		w.means = append(w.means, rng.Float64())
	}
	return w
}

func (w *world) reward(arm int) float64 {
	if w.wild && w.rng.IntN(3) == 0 {
		return 4*w.rng.Float64() - 2
	}
	if w.rng.Float64() < w.means[arm] {
		return 1
	}
	return 0
}

// clock draws a horizon: infinite, finite, or both discounted and finite.
func (w *world) clock() clock {
	hold := 1 + w.rng.IntN(3)*w.rng.IntN(3)
	gamma := []float64{0, 0.5, 0.9, 0.99, 0.999}[w.rng.IntN(5)]
	switch w.rng.IntN(3) {
	case 0:
		return newClock(bandit.Discounted(gamma), hold)
	case 1:
		return newClock(bandit.Finite(w.rng.IntN(300)), hold)
	}
	return newClock(bandit.DiscountedFinite(gamma, w.rng.IntN(300)), hold)
}

// play runs a policy, checking every selection against want. Now and then
// another arm is pulled than was selected.
func (w *world) play(t *testing.T, p Policy, steps int, rng func() *rand.Rand, want func() int) {
	t.Helper()
	for step := range steps {
		expected := want()
		if got := p.SelectArm(rng()); got != expected {
			t.Fatalf("%d arms of %d members, step %d: selected arm %d, plainly it is %d", w.arms, w.members, step, got, expected)
		}
		arm := expected
		if w.rng.IntN(8) == 0 {
			arm = w.rng.IntN(w.arms)
		}
		p.Update(arm, w.reward(arm), w.rng)
	}
}

// noRNG is for policies that do not draw.
func noRNG() *rand.Rand { return nil }

// argmax returns the first i < n with the largest f(i).
func argmax(n int, f func(i int) float64) int {
	best := 0
	for i := range n {
		if f(i) > f(best) {
			best = i
		}
	}
	return best
}

func (b *beliefs) plainGreedy() int { return argmax(b.len(), b.mean) }

// script is a source of random words that makes (*members).next return given
// ranks in order.
type script []uint64

func (s *script) Uint64() uint64 {
	x := (*s)[0]
	*s = (*s)[1:]
	return x
}

// scripted returns a generator by which m, from its next draw on, draws the
// ranks that the given arms, in order of their visit, are to have.
func scripted(m *members, order []entry, skip int, ranks []int) *rand.Rand {
	var s script
	m.left = 0
	if m.common {
		s = append(s, word(m.drawn, m.k))
		return rand.New(&s)
	}
	var bitsLeft, shift uint
	for _, e := range order {
		if int(e.arm) == skip {
			continue
		}
		rank := ranks[e.arm]
		if m.width == 0 {
			s = append(s, word(rank, m.k))
			continue
		}
		if bitsLeft < m.width {
			s = append(s, 0)
			bitsLeft, shift = 64, 0
		}
		s[len(s)-1] |= uint64(rank) << shift
		shift += m.width
		bitsLeft -= m.width
	}
	return rand.New(&s)
}

// word makes rand.IntN(k) return x.
func word(x, k int) uint64 {
	if k&(k-1) == 0 {
		return uint64(x)
	}
	w, _ := bits.Div64(uint64(x), 1<<63, uint64(k))
	return w
}

func TestScript(t *testing.T) {
	for _, k := range []int{1, 2, 3, 7, 16, 17, 64} {
		for x := range k {
			s := script{word(x, k)}
			if got := rand.New(&s).IntN(k); got != x {
				t.Errorf("IntN(%d) = %d, want %d", k, got, x)
			}
		}
	}
}

// chiSquare returns the statistic of counts against probabilities, and the
// degrees of freedom. Outcomes expected less than five times are pooled.
func chiSquare(counts []int, probs []float64) (x float64, freedom int) {
	n := 0
	for _, c := range counts {
		n += c
	}
	pooled, pool := 0.0, 0.0
	add := func(count, expected float64) {
		x += (count - expected) * (count - expected) / expected
		freedom++
	}
	for i, c := range counts {
		if e := probs[i] * float64(n); e >= 5 {
			add(float64(c), e)
		} else {
			pooled += float64(c)
			pool += e
		}
	}
	if pool > 0 {
		add(pooled, pool)
	}
	return x, freedom - 1
}

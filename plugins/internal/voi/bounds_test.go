package voi

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Unknown bounds are the unbiased estimates of the ends of a uniform distribution, from the
// different means.
func TestBoundsAreLearned(t *testing.T) {
	inf := math.Inf(1)
	for _, x := range []struct {
		low, high         float64
		rewards           []float64 // of pairs, one each
		wantLow, wantHigh float64
	}{
		{-inf, inf, []float64{7}, 6.5, 7.5}, // no unit is known
		{-inf, inf, []float64{7, 7, 7}, 6.5, 7.5},
		{-inf, inf, []float64{-1, -10}, -19, 8},
		{-inf, inf, []float64{-1, -10, -1, -1}, -19, 8},
		{-inf, inf, []float64{-1, -10, 20}, -25, 35},
		{-inf, inf, []float64{2e-6, 1e-6}, 0, 3e-6},
		{-inf, inf, []float64{-4e6, 8e6}, -16e6, 20e6},
		{-inf, inf, []float64{0, 0, 1e-30}, -1e-30, 2e-30},
		{0, inf, []float64{3}, 0, 6},
		{0, inf, []float64{3, 1}, 0, 4.5},
		{-2, inf, []float64{-2}, -2, -1}, // no unit is known
		{-inf, 5, []float64{4, 1}, -1, 5},
		{-2, 2, []float64{1, 100}, -2, 2}, // known bounds stay
		{-math.MaxFloat64, math.MaxFloat64, []float64{1, 3}, -1, 5},
	} {
		b := NewBelief(len(x.rewards), x.low, x.high)
		s := b.addState()
		sum := 0.0
		for a, r := range x.rewards {
			b.learn(s, a, r, s)
			sum += r
		}
		if b.outside && !b.learnsLow && !b.learnsHigh {
			t.Errorf("[%v, %v]: known bounds are learned", x.low, x.high)
		}
		if b.learnsLow || b.learnsHigh {
			b.learnBounds()
		}
		size := x.wantHigh - x.wantLow
		if math.Abs(b.low-x.wantLow) > 1e-9*size || math.Abs(b.low+b.scale-x.wantHigh) > 1e-9*size {
			t.Errorf("[%v, %v], %v: bounds %v and %v, want %v and %v", x.low, x.high, x.rewards, b.low, b.low+b.scale, x.wantLow, x.wantHigh)
		}
		for a, r := range x.rewards {
			if got := b.pairs[s*b.actions+a].mean; math.Abs(got-(r-x.wantLow)/size) > 1e-9 {
				t.Errorf("%v: mean %v of action %d, want %v", x.rewards, got, a, (r-x.wantLow)/size)
			}
		}
		n := float64(len(x.rewards))
		if want := (sum - n*x.wantLow) / size; math.Abs(b.sumMeans-want) > 1e-9*n*math.Abs(want) {
			t.Errorf("%v: the sum of means is %v, want %v", x.rewards, b.sumMeans, want)
		}
	}
}

// A planner that learns bounds on the way ends where one ends that knows them from the beginning.
func TestLearnedBoundsAreLikeKnownOnes(t *testing.T) {
	const states, actions, steps = 6, 3, 400
	for seed := range uint64(20) {
		size := math.Pow(10, float64(seed%7)-3)
		play := func(low, high float64) *Planner {
			rng := rand.New(rand.NewPCG(31, seed))
			p := NewPlanner(NewBelief(actions, low, high), Sup)
			for range states {
				p.AddState()
			}
			s := 0
			for k := range steps {
				if k%5 == 0 {
					p.due = true
					p.Plan(s, 1000)
				}
				a, y := rng.IntN(actions), rng.IntN(states)
				r := size * float64(s*a)
				if a == 1 {
					r += size * rng.NormFloat64()
				}
				p.Learn(s, a, r, y)
				s = y
			}
			p.belief.outside = p.belief.learnsLow
			p.due = true
			p.Plan(s, 1000)
			return p
		}
		p := play(math.Inf(-1), math.Inf(1))
		low, high := p.belief.low, p.belief.low+p.belief.scale
		if low > 0 || high < 10*size || high-low > 20*size {
			t.Errorf("seed %d: bounds %v and %v of rewards of size %v", seed, low, high, size)
		}
		q := play(low, high)
		for s := range states {
			if x, y := p.Value(s), q.Value(s); math.Abs(x-y) > 1e-6*(high-low) {
				t.Errorf("seed %d, state %d: value %v, with known bounds %v", seed, s, x, y)
			}
			if p.Greedy(s) != q.Greedy(s) {
				t.Errorf("seed %d, state %d: action %d, with known bounds %d", seed, s, p.Greedy(s), q.Greedy(s))
			}
		}
		for i := range p.belief.pairs {
			x, y := &p.belief.pairs[i], &q.belief.pairs[i]
			if math.Abs(x.mean-y.mean) > 1e-9 || math.Abs(x.m2-y.m2) > 1e-9*(1+y.m2) {
				t.Errorf("seed %d, pair %d: mean %v and sum of squares %v, with known bounds %v and %v", seed, i, x.mean, x.m2, y.mean, y.m2)
			}
		}
	}
}

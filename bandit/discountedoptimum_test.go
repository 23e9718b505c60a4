package bandit

import (
	"math"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

// Two routes to one answer: Whittle's integral over single arms, and backward
// induction over all arms together.
func TestDiscountedOptimumIsBackwardInduction(t *testing.T) {
	for _, tt := range []struct {
		priors []Beta
		gamma  float64
		pulls  int
	}{
		{[]Beta{{1, 1}, {1, 1}}, 0.5, 30},
		{[]Beta{{1, 1}, {1, 1}}, 0.8, 60},
		{[]Beta{{1, 2}, {3, 1}}, 0.8, 60},
		{[]Beta{{0.5, 0.5}, {2, 5}}, 0.7, 50},
		{[]Beta{{1, 1}, {2, 1}, {1, 3}}, 0.5, 14},
	} {
		lo, hi := must.Get2(DiscountedOptimum(tt.priors, tt.gamma, 1e-3))(t)
		plan := must.Get(NewPlan(tt.priors, Discounted(tt.gamma), tt.pulls, 0))(t)
		if v, slack := plan.Value(), plan.ErrorBound(); lo > v+slack || hi < v {
			t.Errorf("%v, γ = %v: [%v, %v] misses [%v, %v] of backward induction", tt.priors, tt.gamma, lo, hi, v, v+slack)
		} else if mid := (lo + hi) / 2; math.Abs(mid-v) > 2e-4/(1-tt.gamma)+slack {
			t.Errorf("%v, γ = %v: the middle %v is far from %v", tt.priors, tt.gamma, mid, v)
		}
	}
}

// With one arm there is nothing to choose; with a certain one, nothing better.
func TestDiscountedOptimumOfTrivialArms(t *testing.T) {
	lo, hi, err := DiscountedOptimum([]Beta{{2, 3}}, 0.9, 1e-3)
	if want := 0.4 * 10; err != nil || lo > want || hi < want {
		t.Errorf("one arm: [%v, %v] (%v) misses %v", lo, hi, err, want)
	}
	one, _ := must.Get2(DiscountedOptimum([]Beta{{1, 1}}, 0.9, 1e-3))(t)
	two, _ := must.Get2(DiscountedOptimum([]Beta{{1, 1}, {1, 1}}, 0.9, 1e-3))(t)
	_, many := must.Get2(DiscountedOptimum(make16(), 0.9, 1e-3))(t)
	if !(one < two && two < many && many < 10) {
		t.Errorf("1, 2 and 16 arms are worth %v, %v and %v; must increase and stay below 10", one, two, many)
	}
}

func make16() []Beta {
	arms := make([]Beta, 16)
	for i := range arms {
		arms[i] = Beta{1, 1}
	}
	return arms
}

func TestDiscountedOptimumRefuses(t *testing.T) {
	for _, tt := range []struct {
		priors     []Beta
		gamma, tol float64
	}{
		{nil, 0.5, 0.1}, {[]Beta{{1, 1}}, 1, 0.1}, {[]Beta{{1, 1}}, -0.1, 0.1},
		{[]Beta{{1, 1}}, 0.5, 0}, {[]Beta{{0, 1}}, 0.5, 0.1}, {[]Beta{{1, math.NaN()}}, 0.5, 0.1},
	} {
		if lo, hi, err := DiscountedOptimum(tt.priors, tt.gamma, tt.tol); err == nil {
			t.Errorf("%v, γ = %v, tol = %v: got [%v, %v], want an error", tt.priors, tt.gamma, tt.tol, lo, hi)
		}
	}
}

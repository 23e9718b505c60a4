package main

import (
	"math"
	"testing"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/internal/must"
)

// Two routes to one answer: Whittle's integral over single arms, and backward
// induction over all arms together.
func TestDiscountedOptimumIsBackwardInduction(t *testing.T) {
	for _, tt := range []struct {
		priors []bandit.Beta
		gamma  float64
		pulls  int
	}{
		{[]bandit.Beta{{A: 1, B: 1}, {A: 1, B: 1}}, 0.5, 30},
		{[]bandit.Beta{{A: 1, B: 1}, {A: 1, B: 1}}, 0.8, 60},
		{[]bandit.Beta{{A: 1, B: 2}, {A: 3, B: 1}}, 0.8, 60},
		{[]bandit.Beta{{A: 0.5, B: 0.5}, {A: 2, B: 5}}, 0.7, 50},
		{[]bandit.Beta{{A: 1, B: 1}, {A: 2, B: 1}, {A: 1, B: 3}}, 0.5, 14},
	} {
		lo, hi := must.Get2(discountedOptimum(tt.priors, tt.gamma, 1e-3))(t)
		plan := must.Get(bandit.NewPlan(tt.priors, bandit.Discounted(tt.gamma), tt.pulls, 0))(t)
		if v, slack := plan.Value(), plan.ErrorBound(); lo > v+slack || hi < v {
			t.Errorf("%v, γ = %v: [%v, %v] misses [%v, %v] of backward induction", tt.priors, tt.gamma, lo, hi, v, v+slack)
		} else if mid := (lo + hi) / 2; math.Abs(mid-v) > 2e-4/(1-tt.gamma)+slack {
			t.Errorf("%v, γ = %v: the middle %v is far from %v", tt.priors, tt.gamma, mid, v)
		}
	}
}

// With one arm there is nothing to choose; with a certain one, nothing better.
func TestDiscountedOptimumOfTrivialArms(t *testing.T) {
	lo, hi, err := discountedOptimum([]bandit.Beta{{A: 2, B: 3}}, 0.9, 1e-3)
	if want := 0.4 * 10; err != nil || lo > want || hi < want {
		t.Errorf("one arm: [%v, %v] (%v) misses %v", lo, hi, err, want)
	}
	one, _ := must.Get2(discountedOptimum([]bandit.Beta{{A: 1, B: 1}}, 0.9, 1e-3))(t)
	two, _ := must.Get2(discountedOptimum([]bandit.Beta{{A: 1, B: 1}, {A: 1, B: 1}}, 0.9, 1e-3))(t)
	_, many := must.Get2(discountedOptimum(make16(), 0.9, 1e-3))(t)
	if !(one < two && two < many && many < 10) {
		t.Errorf("1, 2 and 16 arms are worth %v, %v and %v; must increase and stay below 10", one, two, many)
	}
}

func make16() []bandit.Beta {
	arms := make([]bandit.Beta, 16)
	for i := range arms {
		arms[i] = bandit.Beta{A: 1, B: 1}
	}
	return arms
}

func TestDiscountedOptimumRefuses(t *testing.T) {
	for _, tt := range []struct {
		priors     []bandit.Beta
		gamma, tol float64
	}{
		{nil, 0.5, 0.1}, {[]bandit.Beta{{A: 1, B: 1}}, 1, 0.1}, {[]bandit.Beta{{A: 1, B: 1}}, -0.1, 0.1},
		{[]bandit.Beta{{A: 1, B: 1}}, 0.5, 0}, {[]bandit.Beta{{A: 0, B: 1}}, 0.5, 0.1}, {[]bandit.Beta{{A: 1, B: math.NaN()}}, 0.5, 0.1},
	} {
		if lo, hi, err := discountedOptimum(tt.priors, tt.gamma, tt.tol); err == nil {
			t.Errorf("%v, γ = %v, tol = %v: got [%v, %v], want an error", tt.priors, tt.gamma, tt.tol, lo, hi)
		}
	}
}

package bandit

import (
	"math"
	"math/big"
	"testing"

	"github.com/rlrun/rlrun/internal/vectors"
	"pgregory.net/rapid"
)

// anyHorizon draws a horizon of any kind.
func anyHorizon(t *rapid.T) Horizon {
	gamma := 1 - math.Pow(10, -rapid.Float64Range(0, 5).Draw(t, "decades"))
	n := rapid.IntRange(0, 300).Draw(t, "N")
	switch rapid.SampledFrom([]string{"infinite", "finite", "undiscounted", "weights"}).Draw(t, "horizon") {
	case "infinite":
		return Discounted(gamma)
	case "finite":
		return DiscountedFinite(gamma, n)
	case "undiscounted":
		return Finite(n)
	}
	w := rapid.SliceOfN(rapid.Float64Range(0, 10), n+1, n+1).Draw(t, "g")
	w[rapid.IntRange(0, n).Draw(t, "positive")] += 0.1
	return Weights(w)
}

func TestHorizonSplitsItsTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := anyHorizon(t)
		hold := rapid.IntRange(1, 400).Draw(t, "T")
		g, head, tail, share := h.Total(), h.Head(hold), h.Tail(hold), h.Share(hold)
		if math.Abs(head+tail-g) > 1e-13*g {
			t.Fatalf("G_T %v + H_T %v != G %v", head, tail, g)
		}
		if !(share >= 0 && share <= 1) || math.Abs(share-head/g) > 1e-13 {
			t.Fatalf("share %v, want %v", share, head/g)
		}
		if next := h.Share(hold + 1); next < share {
			t.Fatalf("share falls from %v to %v", share, next)
		}
		if float64(hold) >= h.Rewards() && (tail != 0 || share != 1) {
			t.Fatalf("beyond the end: tail %v, share %v", tail, share)
		}
	})
}

func TestHorizonSumsItsWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := anyHorizon(t)
		hold := rapid.IntRange(1, 400).Draw(t, "T")
		sum := 0.0
		for k := range hold {
			sum += h.Weight(k)
		}
		if math.Abs(sum-h.Head(hold)) > 1e-12*sum {
			t.Fatalf("weights sum to %v, G_T = %v", sum, h.Head(hold))
		}
	})
}

func TestHorizonAfter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := anyHorizon(t)
		k := rapid.IntRange(0, 350).Draw(t, "k")
		rest := h.After(k)
		// Weights of the rest are those of h moved by k, up to one factor.
		if float64(k) < h.Rewards() && rest.Total() > 0 && h.Weight(k) > 1e-200 {
			factor := h.Weight(k) / rest.Weight(0)
			for _, m := range []int{1, 2, 50} {
				if a, b := h.Weight(k+m), factor*rest.Weight(m); math.Abs(a-b) > 1e-12*h.Weight(k) {
					t.Fatalf("weight %d of the rest: %v, want %v", m, b, a)
				}
			}
		}
		if float64(k) >= h.Rewards() && rest.Share(1) != 1 {
			t.Fatalf("past the end the share is %v", rest.Share(1))
		}
		for _, hold := range []int{1, 7} {
			if s := rest.Share(hold); !(s >= 0 && s <= 1) {
				t.Fatalf("share %v", s)
			}
		}
	})
}

// Near γ = 1, over long horizons, against exact rational arithmetic.
func TestHorizonIsAccurate(t *testing.T) {
	for _, c := range []struct {
		gamma float64
		n     int
		hold  int
	}{{0.999999, 100000, 3}, {1 - 1e-9, 5000, 4999}, {0.5, 2000, 1500}, {1 - 1.0/1024, 9000, 8999}, {1e-8, 40, 2}, {0, 4, 1}} {
		sum := func(from, to int) float64 {
			// (γ^from − γ^to)/(1−γ) in 400 bits.
			g := new(big.Float).SetPrec(400).SetFloat64(c.gamma)
			pow := func(k int) *big.Float {
				r := new(big.Float).SetPrec(400).SetInt64(1)
				b := new(big.Float).SetPrec(400).Set(g)
				for ; k > 0; k >>= 1 {
					if k&1 == 1 {
						r.Mul(r, b)
					}
					b.Mul(b, b)
				}
				return r
			}
			d := pow(from)
			d.Sub(d, pow(to))
			one := new(big.Float).SetPrec(400).SetInt64(1)
			f, _ := d.Quo(d, one.Sub(one, g)).Float64()
			return f
		}
		h := DiscountedFinite(c.gamma, c.n)
		vectors.Close(t, "G", h.Total(), sum(0, c.n+1), 1e-13, 0)
		vectors.Close(t, "G_T", h.Head(c.hold), sum(0, c.hold), 1e-13, 0)
		vectors.Close(t, "H_T", h.Tail(c.hold), sum(c.hold, c.n+1), 1e-12, 0)
		if c.gamma > 0 {
			vectors.Close(t, "1-rho", Discounted(c.gamma).Tail(c.hold)*(1-c.gamma), math.Exp(float64(c.hold)*math.Log(c.gamma)), 1e-13, 0)
		}
	}
}

func TestBudgetedLearningCostsNothing(t *testing.T) {
	h := Weights([]float64{0, 0, 0, 1, 1})
	if got := h.Share(3); got != 0 {
		t.Errorf("share of the budget = %v, want 0", got)
	}
	if got := h.Share(4); got != 0.5 {
		t.Errorf("share = %v, want 0.5", got)
	}
}

func TestZeroHorizonIsMyopic(t *testing.T) {
	var h Horizon
	if h.Total() != 1 || h.Share(1) != 1 || h.Tail(1) != 0 || h.Weight(0) != 1 || h.Weight(1) != 0 {
		t.Errorf("the zero horizon is not that of one reward: %+v", h)
	}
}

func TestHorizonPreconditions(t *testing.T) {
	for name, f := range map[string]func(){
		"gamma 1":         func() { Discounted(1) },
		"gamma NaN":       func() { Discounted(math.NaN()) },
		"gamma negative":  func() { DiscountedFinite(-0.1, 3) },
		"negative N":      func() { Finite(-1) },
		"no weight":       func() { Weights([]float64{0, 0}) },
		"no weights":      func() { Weights(nil) },
		"negative weight": func() { Weights([]float64{1, -1}) },
		"infinite weight": func() { Weights([]float64{math.Inf(1)}) },
		"T 0":             func() { Finite(3).Share(0) },
		"after -1":        func() { Finite(3).After(-1) },
		"weight -1":       func() { Finite(3).Weight(-1) },
	} {
		mustPanic(t, name, f)
	}
}

func mustPanic(t *testing.T, name string, f func()) {
	t.Helper()
	defer func() {
		if r := recover(); r == nil {
			t.Errorf("%s: no panic", name)
		} else if _, ok := r.(string); !ok {
			t.Errorf("%s: panicked with %v", name, r)
		}
	}()
	f()
}

package bandit

import (
	"math"
	"testing"

	"github.com/rlrun/rlrun/internal/root"
	"pgregory.net/rapid"
)

// indexExponential has the closed forms of docs/theory.md §1.9, in logarithms, so that
// neither a small share nor a distant lower bound overflows.
func indexExponential(d ShiftedExponential, kind IndexKind, rho, lowerBound float64) float64 {
	if rho == 0 {
		return math.Inf(1)
	}
	logOdds := math.Log1p(-rho) - math.Log(rho) // ln k
	switch kind {
	case UPlus:
		return d.Mu + (1+lambertW0Exp(logOdds-2))/d.Rate
	case V:
		return d.Mu + (1+lambertW0Exp(logOdds-1))/d.Rate
	}
	exponent := d.Rate*(d.Mu-lowerBound) - 1
	w := lambertW0Exp(logOdds + exponent)
	if lowerBound+(1+w)/d.Rate < d.Mu {
		return d.Mu // P(q ≥ x) = 1 up to here, and it pays no further
	}
	if rho == 1 {
		return lowerBound + math.Exp(exponent)/d.Rate
	}
	return lowerBound + w/(d.Rate*(1-rho))
}

// indexUniform solves the stationarity condition, a quadratic in t = Hi−x.
func indexUniform(d Uniform, kind IndexKind, rho, lowerBound float64) float64 {
	width := d.Hi - d.Lo
	if kind == V {
		root := math.Sqrt(rho)
		return d.Hi - width*root/(1+root)
	}
	base, scale := lowerBound, 1.0
	if kind == UPlus {
		base, scale = d.Mean(), 1-rho
	}
	room := d.Hi - base
	switch {
	case room <= 0:
		return base
	case rho == 0:
		return d.Hi
	}
	r := rho * width
	t := min(width, room*r/(r+math.Sqrt(r*(r+(1-rho)*room))))
	return base + scale*(room-t)*t/(r+(1-rho)*t)
}

// The search finds what the closed forms of docs/theory.md §1.9 say.
func TestIndicesInClosedForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rho := math.Pow(10, rapid.Float64Range(-12, 0).Draw(t, "log10 rho"))
		if end := rapid.IntRange(0, 20).Draw(t, "end"); end < 2 {
			rho = float64(end)
		}
		mu := rapid.Float64Range(-5, 5).Draw(t, "mu")
		size := math.Pow(10, rapid.Float64Range(-3, 3).Draw(t, "log10 size"))
		lower := mu - size*rapid.Float64Range(-3, 1000).Draw(t, "below")
		e, u := ShiftedExponential{mu, 1 / size}, Uniform{mu, mu + size}
		for kind := U; kind <= V; kind++ {
			for _, c := range []struct {
				belief Belief
				want   float64
			}{{e, indexExponential(e, kind, rho, lower)}, {u, indexUniform(u, kind, rho, lower)}} {
				got := Index(kind, c.belief, rho, lower)
				if !(got == c.want || math.Abs(got-c.want) <= 1e-11*(math.Abs(c.want)+math.Abs(lower)+size)) {
					t.Errorf("%v of %#v at ρ = %v, b = %v: %v, want %v", kind, c.belief, rho, lower, got, c.want)
				}
			}
		}
	})
}

// lambertW0Exp is W₀(exp(t)) for any t, −Inf and +Inf included: the root of
// w + ln w = t. For t ≥ 1 it lies between t − ln t and t.
func lambertW0Exp(t float64) float64 {
	switch {
	case t < -40:
		return math.Exp(t) // w = eᵗ(1 − eᵗ + …)
	case math.IsInf(t, 1):
		return t
	}
	lo, hi := math.Exp(t)/(1+math.Exp(t)), 1.0
	if t >= 1 {
		lo, hi = t-math.Log(t), t
	}
	return root.Find(func(w float64) float64 { return t - w - math.Log(w) }, lo, hi)
}

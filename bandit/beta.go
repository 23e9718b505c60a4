package bandit

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"
)

// Beta is the Beta(A,B) belief over a mean in [0,1], conjugate to Bernoulli
// rewards; A, B > 0. Beta{1,1} is the uniform prior. Update needs a pointer.
type Beta struct{ A, B float64 }

// NewBeta returns a Beta with the given parameters, or an error if one of them is out of
// range. A literal is not checked.
func NewBeta(a, b float64) (Beta, error) {
	if !(a > 0 && b > 0) || math.IsInf(a+b, 1) {
		return Beta{}, fmt.Errorf("a beta belief needs positive, finite parameters, not %v and %v", a, b)
	}
	return Beta{a, b}, nil
}

// Mean returns A/(A+B).
func (d Beta) Mean() float64 { return d.A / (d.A + d.B) }

// Exceed returns P(q ≥ x).
func (d Beta) Exceed(x float64) float64 {
	above, _ := d.tails(x)
	return above
}

// tails returns P(q ≥ x) and P(q < x), neither as one minus the other.
func (d Beta) tails(x float64) (above, below float64) { return d.tailsAt(x, 1-x) }

// tailsAt is tails for x given with 1−x, whichever end it is close to.
func (d Beta) tailsAt(x, rest float64) (above, below float64) {
	switch {
	case x <= 0:
		return 1, 0
	case rest <= 0:
		return 0, 1
	case x > rest:
		below, above = Beta{d.B, d.A}.tailsAt(rest, x)
		return above, below
	}
	below = mathext.RegIncBeta(d.A, d.B, x)
	above = 1 - below
	// The rounding of 1−below is absolute; that of 1−x, near the end, is
	// amplified by the density.
	if above < 0.1 && d.densityAt(x, rest) < 1 {
		above = mathext.RegIncBeta(d.B, d.A, rest)
	}
	return above, below
}

func (d Beta) density(x float64) float64 { return d.densityAt(x, 1-x) }

func (d Beta) densityAt(x, rest float64) float64 {
	if x < 0 || rest < 0 {
		return 0
	}
	return math.Exp(xlogy(d.A-1, x) + xlogy(d.B-1, rest) - mathext.Lbeta(d.A, d.B))
}

// xlogy is x·ln y, 0 if x = 0.
func xlogy(x, y float64) float64 {
	if x == 0 {
		return 0
	}
	return x * math.Log(y)
}

func (d Beta) logConcave() bool { return d.A >= 1 && d.B >= 1 }

func (d Beta) support() (lo, hi float64) { return 0, 1 }

// Gain returns E(q−x)⁺ = (q̄−x)·P(q ≥ x) + x^A (1−x)^B / ((A+B) B(A,B)).
func (d Beta) Gain(x float64) float64 {
	switch {
	case x <= 0:
		return d.Mean() - x
	case x >= 1:
		return 0
	}
	edge := math.Exp(d.A*math.Log(x)+d.B*math.Log1p(-x)-mathext.Lbeta(d.A, d.B)) / (d.A + d.B)
	gain := (d.Mean()-x)*d.Exceed(x) + edge
	if gain > 1e-3*edge {
		return gain
	}
	// The two terms nearly cancel: E(q−x)⁺ = ∫ₓ P(q ≥ t) dt.
	return integrate(func(left, _ float64) float64 { return d.Exceed(x + left) }, x, 1)
}

// Sample draws q from the belief.
func (d Beta) Sample(rng *rand.Rand) float64 {
	if d.A >= 1 && d.B >= 1 {
		a := gammaVariate(d.A, rng)
		return a / (a + gammaVariate(d.B, rng))
	}
	// In logarithms: with small parameters both variates underflow.
	return 1 / (1 + math.Exp(logGammaVariate(d.B, rng)-logGammaVariate(d.A, rng)))
}

// Update learns from a reward in [0,1]: a Bernoulli reward counts as one success
// or failure, a fraction r as r of the one and 1−r of the other.
func (d *Beta) Update(reward float64, _ *rand.Rand) {
	if !(reward >= 0 && reward <= 1) {
		panic("bandit: a beta belief learns from rewards in [0,1]")
	}
	d.A += reward
	d.B += 1 - reward
}

// gammaVariate draws from Gamma(shape, 1), shape ≥ 1/3, by the rejection
// method of Marsaglia & Tsang (2000).
func gammaVariate(shape float64, rng *rand.Rand) float64 {
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		z := rng.NormFloat64()
		v := 1 + c*z
		if v <= 0 {
			continue
		}
		v *= v * v
		u := rng.Float64()
		if u < 1-0.0331*(z*z)*(z*z) || math.Log(u) < z*z/2+d*(1-v+math.Log(v)) {
			return d * v
		}
	}
}

// logGammaVariate draws the logarithm of a Gamma(shape, 1) variate for any
// shape > 0: G(a) = G(a+1)·U^{1/a}.
func logGammaVariate(shape float64, rng *rand.Rand) float64 {
	if shape >= 1 {
		return math.Log(gammaVariate(shape, rng))
	}
	return math.Log(gammaVariate(shape+1, rng)) - rng.ExpFloat64()/shape
}

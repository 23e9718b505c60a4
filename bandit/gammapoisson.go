package bandit

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"
)

// GammaPoisson is the belief Gamma(A, rate B) over the mean of counts, conjugate to
// Poisson rewards (DeGroot 1970, §9.4): as after A events in B rewards; A, B > 0.
// Update needs a pointer, and rewards ≥ 0.
type GammaPoisson struct{ A, B float64 }

// NewGammaPoisson returns a GammaPoisson with the given parameters, or an error if one of them
// is out of range. A literal is not checked.
func NewGammaPoisson(a, b float64) (GammaPoisson, error) {
	if !(a > 0 && b > 0) || math.IsInf(a+b, 1) {
		return GammaPoisson{}, fmt.Errorf("a gamma-poisson belief needs positive, finite parameters, not %v and %v", a, b)
	}
	if a > 1e3*mostCounts {
		return GammaPoisson{}, fmt.Errorf("a gamma-poisson belief has a at most %g, not %v: give the gaussian belief of the same mean %v and standard deviation %.6g", 1e3*mostCounts, a, a/b, math.Sqrt(a)/b)
	}
	return GammaPoisson{a, b}, nil
}

// Mean returns A/B.
func (d GammaPoisson) Mean() float64 { return d.A / d.B }

// Exceed returns P(q ≥ x).
func (d GammaPoisson) Exceed(x float64) float64 {
	above, _ := d.tails(x)
	return above
}

func (d GammaPoisson) tails(x float64) (above, below float64) {
	if x <= 0 {
		return 1, 0
	}
	return mathext.GammaIncRegComp(d.A, d.B*x), mathext.GammaIncReg(d.A, d.B*x)
}

func (d GammaPoisson) density(x float64) float64 {
	if x < 0 || x == 0 && d.A > 1 {
		return 0
	}
	if x == 0 && d.A == 1 {
		return d.B
	}
	lnGamma, _ := math.Lgamma(d.A)
	return math.Exp(d.A*math.Log(d.B) + (d.A-1)*math.Log(x) - d.B*x - lnGamma)
}

func (d GammaPoisson) logConcave() bool { return d.A >= 1 }

func (d GammaPoisson) support() (lo, hi float64) { return 0, math.Inf(1) }

// Gain returns E(q−x)⁺ = (A/B)P(Gamma(A+1, B) ≥ x) − x P(q ≥ x).
func (d GammaPoisson) Gain(x float64) float64 {
	if x <= 0 {
		return d.Mean() - x
	}
	above, _ := d.tails(x)
	more, _ := GammaPoisson{d.A + 1, d.B}.tails(x)
	return max(0, d.Mean()*more-x*above)
}

// Sample draws q from the belief.
func (d GammaPoisson) Sample(rng *rand.Rand) float64 {
	return math.Exp(logGammaVariate(d.A, rng)) / d.B
}

// Update learns from one reward, a count.
func (d *GammaPoisson) Update(reward float64, _ *rand.Rand) {
	d.A += reward
	d.B++
}

func (d GammaPoisson) window() (lo, centre, spread, hi float64) {
	sd := math.Sqrt(d.A) / d.B
	return 0, d.Mean(), sd, d.Mean() + 40*sd + 750/d.B
}

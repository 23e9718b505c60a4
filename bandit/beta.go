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

// mostCounts is the largest sum of a belief's counts. Above it a double has too few digits for
// the tails of its mean.
const mostCounts = 1e9

// NewBeta returns a Beta with the given parameters, or an error if one of them is not positive
// or their sum is over 1e9. A literal is not checked.
func NewBeta(a, b float64) (Beta, error) {
	switch {
	case !(a > 0 && b > 0) || math.IsInf(a+b, 1):
		return Beta{}, fmt.Errorf("a beta belief needs positive, finite parameters, not %v and %v", a, b)
	case a+b > mostCounts && min(a, b) <= manyCounts:
		return Beta{}, fmt.Errorf("a beta belief has at most %g counts in all, not %v and %v: beyond them numbers of 64 bits lose its tails", mostCounts, a, b)
	case a+b > mostCounts:
		d := Beta{a, b}
		return Beta{}, fmt.Errorf("a beta belief has at most %g counts in all, not %v and %v: give the gaussian belief of the same mean %.17g and standard deviation %.6g, which hardly differs", mostCounts, a, b, d.Mean(), math.Sqrt(a/(a+b)*(b/(a+b))/(a+b+1)))
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
	if min(d.A, d.B) > manyCounts {
		return d.tailsOfMany(x)
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

// manyCounts are the counts above which mathext.RegIncBeta loses digits near the mean: its
// continued fraction ends before it has converged.
const manyCounts = 1e4

// tailsOfMany is tails by the first two terms of the uniform expansion of Temme (1996, Special
// Functions, §11.3.3). Their error is of order (A+B)^-3/2 in proportion to the tails.
func (d Beta) tailsOfMany(x float64) (above, below float64) {
	n := d.A + d.B
	mean, rest := d.A/n, d.B/n
	away, half := x-mean, d.divergence(x)
	eta := math.Copysign(math.Sqrt(2*half), away)
	spread := math.Sqrt(mean * rest)
	correction := (1 - 2*mean) / (3 * spread) // the limit at the mean
	if math.Abs(away) > 1e-5*spread {
		correction = 1/eta - spread/away
	}
	correction *= math.Exp(-n*half) / math.Sqrt(2*math.Pi*n)
	z := eta * math.Sqrt(n/2)
	return math.Erfc(z)/2 - correction, math.Erfc(-z)/2 + correction
}

// divergence is that of a coin of probability x from one of the belief's mean, η²/2.
func (d Beta) divergence(x float64) float64 {
	mean, rest := d.A/(d.A+d.B), d.B/(d.A+d.B)
	away := x - mean
	return max(0, -mean*math.Log1p(away/mean)-rest*math.Log1p(-away/rest))
}

// power returns x^A (1−x)^B / B(A,B). With many counts the logarithms would cancel; there it is
// that of the mean, by Stirling's series, times the divergence.
func (d Beta) power(x float64) float64 {
	if min(d.A, d.B) > manyCounts {
		n := d.A + d.B
		return math.Sqrt(d.A/n*d.B/(2*math.Pi)) * math.Exp(-n*d.divergence(x)-(1/d.A+1/d.B-1/n)/12)
	}
	return math.Exp(d.A*math.Log(x) + d.B*math.Log1p(-x) - mathext.Lbeta(d.A, d.B))
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
	edge := d.power(x) / (d.A + d.B)
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

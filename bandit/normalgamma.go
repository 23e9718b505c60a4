package bandit

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"
)

// NormalGamma is the conjugate belief for Gaussian rewards of unknown mean q
// and precision τ: τ ~ Gamma(Alpha, rate Beta), q | τ ~ N(Mu, 1/(Lambda·τ));
// Lambda, Beta > 0 and Alpha > 1/2, without which q has no mean. As a Belief it
// is the marginal of q: Student's t with 2·Alpha degrees of freedom, location
// Mu and scale √(Beta/(Alpha·Lambda)) (DeGroot 1970, §9.6). Update needs a
// pointer. Like that of Gaussian, its support has no lower end.
type NormalGamma struct{ Mu, Lambda, Alpha, Beta float64 }

// NewNormalGamma returns a NormalGamma with the given parameters, or an error if one of them is
// out of range. A literal is not checked.
func NewNormalGamma(mu, lambda, alpha, beta float64) (NormalGamma, error) {
	if math.IsNaN(mu) || math.IsInf(mu, 0) || !(lambda > 0 && alpha > 0.5 && beta > 0) ||
		math.IsInf(lambda+alpha+beta, 1) {
		return NormalGamma{}, fmt.Errorf("a normal-gamma belief needs a finite mean, alpha > 1/2 and positive, finite lambda and beta, not %v, alpha %v, lambda %v and beta %v", mu, alpha, lambda, beta)
	}
	if alpha > mostCounts {
		return NormalGamma{}, fmt.Errorf("a normal-gamma belief has alpha at most %g, not %v: give the gaussian belief of the same mean %v and standard deviation %.6g", mostCounts, alpha, mu, math.Sqrt(beta/alpha/lambda))
	}
	return NormalGamma{mu, lambda, alpha, beta}, nil
}

// Mean returns Mu.
func (d NormalGamma) Mean() float64 { return d.Mu }

func (d NormalGamma) scale() float64 { return math.Sqrt(d.Beta / (d.Alpha * d.Lambda)) }

// Exceed returns P(q ≥ x).
func (d NormalGamma) Exceed(x float64) float64 {
	above, _ := d.tails(x)
	return above
}

func (d NormalGamma) tails(x float64) (above, below float64) {
	z := (x - d.Mu) / d.scale()
	nu := 2 * d.Alpha
	var far float64 // P(t ≥ |z|)
	if z*z < 1 {
		far = (1 - mathext.RegIncBeta(0.5, d.Alpha, z*z/(nu+z*z))) / 2
	} else {
		far = mathext.RegIncBeta(d.Alpha, 0.5, nu/(nu+z*z)) / 2
	}
	if z < 0 {
		return 1 - far, far
	}
	return far, 1 - far
}

func (d NormalGamma) density(x float64) float64 {
	s := d.scale()
	return d.standardDensity((x-d.Mu)/s) / s
}

// standardDensity is the density of t with 2·Alpha degrees of freedom.
func (d NormalGamma) standardDensity(z float64) float64 {
	nu := 2 * d.Alpha
	return math.Exp(-(nu+1)/2*math.Log1p(z*z/nu)-mathext.Lbeta(d.Alpha, 0.5)) / math.Sqrt(nu)
}

func (d NormalGamma) support() (lo, hi float64) { return math.Inf(-1), math.Inf(1) }

// Gain returns E(q−x)⁺ = s·(f(z)(ν+z²)/(ν−1) − z·P(t ≥ z)) with scale s,
// ν = 2·Alpha and z = (x−Mu)/s.
func (d NormalGamma) Gain(x float64) float64 {
	s := d.scale()
	z := (x - d.Mu) / s
	nu := 2 * d.Alpha
	above, _ := d.tails(x)
	return max(0, s*(d.standardDensity(z)*(nu+z*z)/(nu-1)-z*above))
}

// Sample draws q from the belief.
func (d NormalGamma) Sample(rng *rand.Rand) float64 {
	precision := math.Exp(logGammaVariate(d.Alpha, rng)) / d.Beta
	return d.Mu + rng.NormFloat64()/math.Sqrt(d.Lambda*precision)
}

// Update learns from one reward.
func (d *NormalGamma) Update(reward float64, _ *rand.Rand) {
	e := reward - d.Mu
	d.Beta += d.Lambda * e * e / (2 * (d.Lambda + 1))
	d.Lambda++
	d.Mu += e / d.Lambda
	d.Alpha += 0.5
}

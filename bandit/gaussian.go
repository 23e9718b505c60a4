package bandit

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Gaussian is the belief N(Mu, Sigma²) over a mean, Sigma > 0, conjugate to
// Gaussian rewards of known standard deviation Noise > 0. Noise is needed by
// Update only, and Update needs a pointer.
//
// Its support has no lower end: the thresholds then assume only that the arm
// is worth b or more on average over the bad event (docs/theory.md §1.7).
type Gaussian struct{ Mu, Sigma, Noise float64 }

// NewGaussian returns a Gaussian with the given parameters, or an error if one of them is out of
// range. A literal is not checked.
func NewGaussian(mu, sigma, noise float64) (Gaussian, error) {
	if math.IsNaN(mu) || math.IsInf(mu, 0) || !(sigma > 0 && noise > 0) || math.IsInf(sigma+noise, 1) {
		return Gaussian{}, fmt.Errorf("a Gaussian belief needs a finite mean and positive, finite deviations, not %v, %v and noise %v", mu, sigma, noise)
	}
	return Gaussian{mu, sigma, noise}, nil
}

// Mean returns Mu.
func (d Gaussian) Mean() float64 { return d.Mu }

// Exceed returns P(q ≥ x).
func (d Gaussian) Exceed(x float64) float64 { return normalAbove((x - d.Mu) / d.Sigma) }

func (d Gaussian) tails(x float64) (above, below float64) {
	z := (x - d.Mu) / d.Sigma
	return normalAbove(z), normalAbove(-z)
}

func (d Gaussian) density(x float64) float64 {
	return normalDensity((x-d.Mu)/d.Sigma) / d.Sigma
}

func (d Gaussian) logConcave() bool { return true }

func (d Gaussian) support() (lo, hi float64) { return math.Inf(-1), math.Inf(1) }

// Gain returns E(q−x)⁺ = σ(ϕ(z) − z·Q(z)), z = (x−μ)/σ.
func (d Gaussian) Gain(x float64) float64 {
	z := (x - d.Mu) / d.Sigma
	if z < 0 {
		return d.Sigma * (normalDensity(z) - z*normalAbove(z))
	}
	return d.Sigma * normalDensity(z) * (1 - z*mills(z))
}

// Sample draws q from the belief.
func (d Gaussian) Sample(rng *rand.Rand) float64 { return d.Mu + d.Sigma*rng.NormFloat64() }

// Update learns from one reward.
func (d *Gaussian) Update(reward float64, _ *rand.Rand) {
	if !(d.Noise > 0) {
		panic("bandit: a Gaussian belief learns only with positive noise")
	}
	root := math.Hypot(d.Sigma, d.Noise)
	weight := d.Sigma / root
	if weight == 0 { // below the floats: the reward tells nothing
		return
	}
	d.Mu += weight * weight * (reward - d.Mu)
	d.Sigma = weight * d.Noise
}

// normalAbove is Q(z) = P(Z ≥ z) for a standard normal Z.
func normalAbove(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

func normalDensity(z float64) float64 {
	return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
}

// mills is Mills' ratio Q(z)/ϕ(z), by its continued fraction
// 1/(z+1/(z+2/(z+3/(z+…)))) where erfc would underflow.
func mills(z float64) float64 {
	if z < 5 {
		return normalAbove(z) / normalDensity(z)
	}
	f := z
	for k := 120; k > 0; k-- {
		f = z + float64(k)/f
	}
	return 1 / f
}

// logNormalAbove is ln Q(z), for z however large.
func logNormalAbove(z float64) float64 {
	if z < 5 {
		if z < -5 {
			return math.Log1p(-normalAbove(-z))
		}
		return math.Log(normalAbove(z))
	}
	return -z*z/2 - math.Log(2*math.Pi)/2 + math.Log(mills(z))
}

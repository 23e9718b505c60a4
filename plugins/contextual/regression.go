package contextual

import (
	"math"
	"math/rand/v2"
)

// regression is the belief about the weights of an arm. Rewards are linear in the features, with normal noise
// of known variance. The belief is normal, by Bayesian linear regression (Bishop 2006, §3.3). Its covariance is
// UDUᵀ, with D diagonal and U upper triangular with ones on its diagonal: a difference of covariances would lose
// all digits where the prior is wide and the noise small.
// members, if there are any, are draws from the belief. Each learns from rewards with noise of its own: this is the
// parametric bootstrap, or ensemble sampling (Lu & Van Roy 2017).
type regression struct {
	mean    []float64 // d
	factors []float64 // d × d: row j has column j of U, and D at j
	members []float64 // K × d
}

// forget sets the prior: independent weights of mean 0 and standard deviation sd.
func (r *regression) forget(sd float64, rng *rand.Rand) {
	clear(r.mean)
	clear(r.factors)
	for k := range r.mean {
		r.factors[k*len(r.mean)+k] = sd * sd
	}
	for k := range r.members {
		r.members[k] = sd * rng.NormFloat64()
	}
}

// spread writes Σx into u, and returns xᵀΣx, the variance of the arm's mean reward given x.
func (r *regression) spread(u, x []float64) (variance float64) {
	for j := range x {
		column, f, v := r.project(j, x)
		variance += float64(f * v)
		for i, w := range column[:j] {
			u[i] += float64(w * v)
		}
		u[j] = v
	}
	return variance
}

// project returns column j of U and D, with elements j of Uᵀx and DUᵀx.
func (r *regression) project(j int, x []float64) (column []float64, f, v float64) {
	column = r.factors[j*len(x) : (j+1)*len(x)]
	f = x[j] + dot(column[:j], x)
	return column, f, column[j] * f
}

// learn learns that the arm paid y in x, with noise of standard deviation noise, by the update of the factors in
// Bierman (1977, "Factorization Methods for Discrete Sequential Estimation", §V.3). It leaves Σx/√(xᵀΣx+noise²) of
// before in u: the covariance falls by uuᵀ.
func (r *regression) learn(u, x []float64, y, noise float64, rng *rand.Rand) {
	d := len(x)
	size := noise * noise // grows to xᵀΣx+noise²
	for j := range x {
		column, f, v := r.project(j, x)
		before := size
		size += float64(f * v)
		for i, w := range column[:j] {
			column[i] = w - float64(u[i]*(f/before))
			u[i] += float64(w * v)
		}
		u[j] = v
		column[j] *= before / size
	}
	move := func(w []float64, y float64) {
		step := (y - dot(w, x)) / size
		for k := range w {
			w[k] += float64(u[k] * step)
		}
	}
	move(r.mean, y)
	for k := 0; k < len(r.members); k += d {
		move(r.members[k:k+d], y+float64(noise*rng.NormFloat64()))
	}
	root := math.Sqrt(size)
	for k := range u {
		u[k] /= root
	}
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for k := range a {
		sum += float64(a[k] * b[k])
	}
	return sum
}

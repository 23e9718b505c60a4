package contextual

import (
	"math"
	"math/rand/v2"
)

// regression is the belief about the weights of an arm. Rewards are linear in the features, with normal noise
// of known variance. The belief is normal, by Bayesian linear regression (Bishop 2006, §3.3).
// members, if there are any, are draws from the belief. Each learns from rewards with noise of its own: this is the
// parametric bootstrap, or ensemble sampling (Lu & Van Roy 2017).
type regression struct {
	mean    []float64 // d
	cov     []float64 // d × d
	members []float64 // K × d
}

// forget sets the prior: independent weights of mean 0 and standard deviation sd.
func (r *regression) forget(sd float64, rng *rand.Rand) {
	clear(r.mean)
	clear(r.cov)
	for k := range r.mean {
		r.cov[k*len(r.mean)+k] = sd * sd
	}
	for k := range r.members {
		r.members[k] = sd * rng.NormFloat64()
	}
}

// spread writes Σx into u, and returns xᵀΣx, the variance of the arm's mean reward given x.
func (r *regression) spread(u, x []float64) float64 {
	d := len(x)
	for k := range u {
		u[k] = dot(r.cov[k*d:(k+1)*d], x)
	}
	return max(0, dot(u, x))
}

// learn learns that the arm paid y in x, with noise of standard deviation noise (the recursive least squares of
// Bishop 2006, exercise 3.8). It leaves Σx/√(xᵀΣx+noise²) of before in u: the covariance falls by uuᵀ.
func (r *regression) learn(u, x []float64, y, noise float64, rng *rand.Rand) {
	d := len(x)
	size := math.Sqrt(r.spread(u, x) + float64(noise*noise))
	for k := range u {
		u[k] /= size
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
	for j := range u {
		row := r.cov[j*d : (j+1)*d]
		for k := range row {
			row[k] -= float64(u[j] * u[k])
		}
	}
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for k := range a {
		sum += float64(a[k] * b[k])
	}
	return sum
}

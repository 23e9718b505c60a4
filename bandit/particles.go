package bandit

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Likelihood is the likelihood of a reward, up to a factor, if the mean reward
// of the arm is q.
type Likelihood func(reward, q float64) float64

// BernoulliLikelihood is q^r (1−q)^{1−r}, for rewards in [0,1].
func BernoulliLikelihood(reward, q float64) float64 {
	return math.Pow(q, reward) * math.Pow(1-q, 1-reward)
}

// GaussianLikelihood is that of rewards with standard deviation noise > 0.
func GaussianLikelihood(noise float64) Likelihood {
	return func(reward, q float64) float64 {
		z := (reward - q) / noise
		return math.Exp(-z * z / 2)
	}
}

// Particles are drawn again when the effective sample size falls below the share resampleBelow of
// their number. The kernel that then moves them apart has the bandwidth particleKernel.
const (
	resampleBelow  = 0.5
	particleKernel = 0.1
)

// Particles is a belief of weighted particles for any likelihood. A reward
// multiplies the weights. When the effective sample size 1/Σw² has dropped, the
// particles are drawn again by systematic resampling. Then they are jittered
// with the shrinkage kernel of Liu & West (2001), reflected at the ends of the
// prior's support.
type Particles struct {
	x          []float64 // descending
	w          []float64 // of sum 1
	above      []float64 // P(q ≥ x[m]), the sum of the first m+1 weights
	mean       float64
	lo, hi     float64
	likelihood Likelihood
	spare      []float64
}

// NewParticles draws n ≥ 1 particles of equal weight from the prior.
func NewParticles(n int, prior Belief, likelihood Likelihood, rng *rand.Rand) (*Particles, error) {
	if n < 1 {
		return nil, errors.New("at least one particle is needed")
	}
	p := &Particles{
		x: make([]float64, n), w: make([]float64, n), above: make([]float64, n), spare: make([]float64, n),
		likelihood: likelihood,
	}
	p.lo, p.hi = shapeOf(prior).support()
	for m := range p.x {
		p.x[m] = prior.Sample(rng)
		if math.IsNaN(p.x[m]) || math.IsInf(p.x[m], 0) {
			return nil, fmt.Errorf("the prior drew %v", p.x[m])
		}
	}
	p.level()
	return p, nil
}

// level sorts the particles and gives them equal weight.
func (p *Particles) level() {
	slices.SortFunc(p.x, func(a, b float64) int { return cmp.Compare(b, a) })
	for m := range p.w {
		p.w[m] = 1 / float64(len(p.w))
	}
	p.tally()
}

// tally recomputes what is derived from the weights.
func (p *Particles) tally() {
	sum, mean := 0.0, 0.0
	for m, w := range p.w {
		sum += w
		mean += w * p.x[m]
		p.above[m] = min(sum, 1)
	}
	p.above[len(p.w)-1] = 1
	p.mean = mean
}

// Len returns the number of particles.
func (p *Particles) Len() int { return len(p.x) }

// EffectiveSize returns 1/Σw², between 1 and Len.
func (p *Particles) EffectiveSize() float64 {
	sum := 0.0
	for _, w := range p.w {
		sum += w * w
	}
	return 1 / sum
}

// Mean returns the weighted mean of the particles.
func (p *Particles) Mean() float64 { return p.mean }

// count is the number of particles ≥ x.
func (p *Particles) count(x float64) int {
	n, _ := slices.BinarySearchFunc(p.x, x, func(v, x float64) int {
		if v >= x {
			return -1
		}
		return 1
	})
	return n
}

// Exceed returns P(q ≥ x).
func (p *Particles) Exceed(x float64) float64 {
	if n := p.count(x); n > 0 {
		return p.above[n-1]
	}
	return 0
}

// UpperQuantile returns the smallest particle x with P(q > x) ≤ tail, tail in
// [0,1]: the largest of positive weight at 0, the smallest of all at 1.
func (p *Particles) UpperQuantile(tail float64) float64 {
	n, _ := slices.BinarySearchFunc(p.above, tail, func(above, tail float64) int {
		if above <= tail {
			return -1
		}
		return 1
	})
	return p.x[min(n, len(p.x)-1)]
}

func (p *Particles) tails(x float64) (above, below float64) {
	above = p.Exceed(x)
	return above, 1 - above
}

func (p *Particles) atoms() int { return len(p.x) }

func (p *Particles) atom(m int) (x, above, below float64) {
	return p.x[m], p.above[m], 1 - p.above[m]
}

func (p *Particles) support() (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for m, w := range p.w {
		if w > 0 {
			lo, hi = min(lo, p.x[m]), max(hi, p.x[m])
		}
	}
	return lo, hi
}

// Gain returns E(q−x)⁺.
func (p *Particles) Gain(x float64) float64 {
	sum := 0.0
	for m := range p.count(x) {
		sum += p.w[m] * (p.x[m] - x)
	}
	return sum
}

// Sample draws a particle.
func (p *Particles) Sample(rng *rand.Rand) float64 {
	u := rng.Float64()
	n, _ := slices.BinarySearchFunc(p.above, u, func(above, u float64) int {
		if above > u {
			return 1
		}
		return -1
	})
	return p.x[n]
}

// Update reweighs the particles by the likelihood of the reward and resamples
// them, with rng, if need be. A reward that is impossible, or whose likelihood
// is not a number, for every particle changes nothing.
func (p *Particles) Update(reward float64, rng *rand.Rand) {
	total := 0.0
	for m, x := range p.x {
		p.spare[m] = p.w[m] * p.likelihood(reward, x)
		total += p.spare[m]
	}
	if !(total > 0) || math.IsInf(total, 1) {
		return
	}
	for m := range p.w {
		p.w[m] = p.spare[m] / total
	}
	p.tally()
	if p.EffectiveSize() < resampleBelow*float64(len(p.x)) {
		p.resample(rng)
	}
}

func (p *Particles) resample(rng *rand.Rand) {
	variance := 0.0
	for m, w := range p.w {
		variance += w * (p.x[m] - p.mean) * (p.x[m] - p.mean)
	}
	shrink, jitter := math.Sqrt(1-particleKernel*particleKernel), particleKernel*math.Sqrt(variance)
	n := float64(len(p.x))
	u := rng.Float64()
	m := 0
	for k := range p.spare {
		for p.above[m] <= (float64(k)+u)/n && m+1 < len(p.x) {
			m++
		}
		p.spare[k] = p.reflect(p.mean + shrink*(p.x[m]-p.mean) + jitter*rng.NormFloat64())
	}
	p.x, p.spare = p.spare, p.x
	p.level()
}

// reflect folds x back into the prior's support.
func (p *Particles) reflect(x float64) float64 {
	if x < p.lo {
		x = min(2*p.lo-x, p.hi)
	}
	if x > p.hi {
		x = max(2*p.hi-x, p.lo)
	}
	return x
}

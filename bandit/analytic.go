package bandit

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// ShiftedExponential is the belief that a mean is Mu + x, where x is exponential with
// the given Rate > 0 and so has mean 1/Rate. It is the one continuous belief for which
// the paper derives its threshold.
type ShiftedExponential struct{ Mu, Rate float64 }

// NewShiftedExponential returns a ShiftedExponential with the given parameters, or an error if
// one of them is out of range. A literal is not checked.
func NewShiftedExponential(mu, rate float64) (ShiftedExponential, error) {
	if math.IsNaN(mu) || math.IsInf(mu, 0) || !(rate > 0) || math.IsInf(rate, 1) {
		return ShiftedExponential{}, fmt.Errorf("an exponential belief needs a finite location and a positive, finite rate, not %v and %v", mu, rate)
	}
	return ShiftedExponential{mu, rate}, nil
}

// Mean returns Mu + 1/Rate.
func (d ShiftedExponential) Mean() float64 { return d.Mu + 1/d.Rate }

// Exceed returns P(q ≥ x).
func (d ShiftedExponential) Exceed(x float64) float64 {
	return math.Exp(-d.Rate * max(0, x-d.Mu))
}

func (d ShiftedExponential) tails(x float64) (above, below float64) {
	return d.Exceed(x), -math.Expm1(-d.Rate * max(0, x-d.Mu))
}

func (d ShiftedExponential) density(x float64) float64 {
	if x < d.Mu {
		return 0
	}
	return d.Rate * d.Exceed(x)
}

func (d ShiftedExponential) logConcave() bool { return true }

func (d ShiftedExponential) support() (lo, hi float64) { return d.Mu, math.Inf(1) }

// Gain returns E(q−x)⁺.
func (d ShiftedExponential) Gain(x float64) float64 {
	return max(0, d.Mu-x) + d.Exceed(x)/d.Rate
}

// Sample draws q from the belief.
func (d ShiftedExponential) Sample(rng *rand.Rand) float64 {
	return d.Mu + rng.ExpFloat64()/d.Rate
}

// Uniform is the uniform belief on [Lo, Hi], Lo < Hi.
type Uniform struct{ Lo, Hi float64 }

// NewUniform returns a Uniform with the given parameters, or an error if one of them is out of
// range. A literal is not checked.
func NewUniform(lo, hi float64) (Uniform, error) {
	if !(lo < hi) || math.IsInf(hi-lo, 1) {
		return Uniform{}, fmt.Errorf("a uniform belief needs finite ends in ascending order, not %v and %v", lo, hi)
	}
	return Uniform{lo, hi}, nil
}

// Mean returns (Lo+Hi)/2.
func (d Uniform) Mean() float64 { return d.Lo + (d.Hi-d.Lo)/2 }

// Exceed returns P(q ≥ x).
func (d Uniform) Exceed(x float64) float64 {
	return min(1, max(0, (d.Hi-x)/(d.Hi-d.Lo)))
}

func (d Uniform) tails(x float64) (above, below float64) {
	return d.Exceed(x), min(1, max(0, (x-d.Lo)/(d.Hi-d.Lo)))
}

func (d Uniform) density(x float64) float64 {
	if x < d.Lo || x > d.Hi {
		return 0
	}
	return 1 / (d.Hi - d.Lo)
}

func (d Uniform) logConcave() bool { return true }

func (d Uniform) support() (lo, hi float64) { return d.Lo, d.Hi }

// Gain returns E(q−x)⁺.
func (d Uniform) Gain(x float64) float64 {
	inside := max(0, d.Hi-max(x, d.Lo))
	return max(0, d.Lo-x) + inside*inside/(2*(d.Hi-d.Lo))
}

// Sample draws q from the belief.
func (d Uniform) Sample(rng *rand.Rand) float64 { return d.Lo + (d.Hi-d.Lo)*rng.Float64() }

// TwoPoint is the belief that a mean is Hi with probability W in [0,1], and else Lo < Hi.
type TwoPoint struct{ Lo, Hi, W float64 }

// NewTwoPoint returns a TwoPoint with the given parameters, or an error if one of them is out of
// range. A literal is not checked.
func NewTwoPoint(lo, hi, w float64) (TwoPoint, error) {
	if !(lo < hi) || math.IsInf(hi-lo, 1) || !(w >= 0 && w <= 1) {
		return TwoPoint{}, fmt.Errorf("a two-point belief needs finite values in ascending order and a probability, not %v, %v and %v", lo, hi, w)
	}
	return TwoPoint{lo, hi, w}, nil
}

// Mean returns W·Hi + (1−W)·Lo.
func (d TwoPoint) Mean() float64 { return d.W*d.Hi + (1-d.W)*d.Lo }

// Exceed returns P(q ≥ x).
func (d TwoPoint) Exceed(x float64) float64 {
	above, _ := d.tails(x)
	return above
}

func (d TwoPoint) tails(x float64) (above, below float64) {
	switch {
	case x <= d.Lo:
		return 1, 0
	case x <= d.Hi:
		return d.W, 1 - d.W
	}
	return 0, 1
}

func (d TwoPoint) atoms() int {
	if d.W == 0 || d.W == 1 {
		return 1
	}
	return 2
}

func (d TwoPoint) atom(m int) (x, above, below float64) {
	if m == 1 || d.W == 0 {
		return d.Lo, 1, 0
	}
	return d.Hi, d.W, 1 - d.W
}

func (d TwoPoint) support() (lo, hi float64) {
	lo, hi = d.Lo, d.Hi
	if d.W == 0 {
		hi = lo
	} else if d.W == 1 {
		lo = hi
	}
	return lo, hi
}

// Gain returns E(q−x)⁺.
func (d TwoPoint) Gain(x float64) float64 {
	return d.W*max(0, d.Hi-x) + (1-d.W)*max(0, d.Lo-x)
}

// Sample draws q from the belief.
func (d TwoPoint) Sample(rng *rand.Rand) float64 {
	if rng.Float64() < d.W {
		return d.Hi
	}
	return d.Lo
}

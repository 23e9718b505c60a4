package bandit

import "math"

// integrate returns ∫ₐᵇ f by the double exponential rule of Takahasi & Mori
// (1974), which copes with algebraic singularities at both ends. f is given the
// distances of its argument from a and from b, each accurate even when it is
// far below the spacing of floating point numbers around the other end. f
// should be smooth inside; it may vary over many orders of magnitude. The step
// is halved until the value stands still to about 1e-13 of the integral of |f|.
func integrate(f func(left, right float64) float64, a, b float64) float64 {
	width := b - a
	if !(width > 0) {
		return 0
	}
	const last = 6.05 // where the nodes are 1e-290 widths from an end
	at := func(t float64) float64 {
		e := math.Exp(-math.Pi * math.Sinh(math.Abs(t)))
		near, far := width*e/(1+e), width/(1+e)
		weight := width * math.Pi * math.Cosh(t) * e / ((1 + e) * (1 + e))
		if t < 0 {
			return weight * f(near, far)
		}
		return weight * f(far, near)
	}
	step := 0.5
	sum := at(0)
	size := math.Abs(sum)
	for t := step; t < last; t += step {
		u, v := at(t), at(-t)
		sum += u + v
		size += math.Abs(u) + math.Abs(v)
	}
	value := step * sum
	for range 8 {
		for t := step / 2; t < last; t += step {
			u, v := at(t), at(-t)
			sum += u + v
			size += math.Abs(u) + math.Abs(v)
		}
		step /= 2
		before := value
		value = step * sum
		if math.Abs(value-before) <= 1e-13*step*size {
			break
		}
	}
	return value
}

// gainByQuadrature is E(q−x)⁺ = ∫ₓ P(q ≥ t) dt for a belief that is bounded
// above, where a closed form would cancel.
func gainByQuadrature(d shape, x float64) float64 {
	_, hi := d.support()
	return integrate(func(left, _ float64) float64 {
		above, _ := d.tails(x + left)
		return above
	}, x, hi)
}

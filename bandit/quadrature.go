package bandit

import "math"

// integrate returns ∫ₐᵇ f by the double exponential rule of Takahasi & Mori
// (1974), which handles algebraic singularities at both ends. It calls f with
// the distances of its argument from a and from b. Each distance is accurate,
// even if it is far below the spacing of floating point numbers at the other
// end. The function f should be smooth inside; it may vary over many orders of
// magnitude. Halving the step then squares the relative error. So the step is
// halved until the value changes by less than 1e-9 of the integral of |f|.
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
	add := func(from, by float64) {
		for t := from; t < last; t += by {
			u, v := at(t), at(-t)
			sum += u + v
			more := math.Abs(u) + math.Abs(v)
			size += more
			if t > 3.8 && more < 1e-19*size {
				break
			}
		}
	}
	add(step, step)
	value := step * sum
	for k := range 8 {
		add(step/2, step)
		step /= 2
		before := value
		value = step * sum
		if k > 0 && math.Abs(value-before) <= 1e-9*step*size {
			break
		}
	}
	return value
}

// integrateKinked is integrate for an f that may have kinks inside: panels are
// halved until that changes nothing, to about 1e-11.
func integrateKinked(f func(left, right float64) float64, a, b float64) float64 {
	var refine func(l, r, whole float64, depth int) float64
	part := func(l, r float64) float64 {
		return integrate(func(left, right float64) float64 { return f(l-a+left, b-r+right) }, l, r)
	}
	refine = func(l, r, whole float64, depth int) float64 {
		mid := l + (r-l)/2
		if !(mid > l && mid < r) {
			return whole
		}
		low, high := part(l, mid), part(mid, r)
		if depth == 0 || math.Abs(low+high-whole) <= 1e-12 {
			return low + high
		}
		return refine(l, mid, low, depth-1) + refine(mid, r, high, depth-1)
	}
	return refine(a, b, part(a, b), 40)
}

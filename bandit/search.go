package bandit

import "math"

// shape is what a search over a belief needs to know about it.
type shape interface {
	Mean() float64
	Gain(x float64) float64
	tails(x float64) (above, below float64) // P(q ≥ x) and P(q < x)
	support() (lo, hi float64)
}

// smooth is a shape with a density inside its support.
type smooth interface {
	shape
	window
	density(x float64) float64
}

// atomic is a shape with so many values, atoms. They are in descending order,
// each with P(q ≥ x) and P(q < x); of equal ones the last has the right
// probabilities, the others smaller ones.
type atomic interface {
	shape
	atoms() int
	atom(m int) (x, above, below float64)
}

// opaque is a belief about which nothing but its methods is known.
type opaque struct{ Belief }

func (o opaque) support() (lo, hi float64) { return math.Inf(-1), math.Inf(1) }

func (o opaque) tails(x float64) (above, below float64) {
	p := min(1, max(0, o.Exceed(x)))
	return p, 1 - p
}

func shapeOf(b Belief) shape {
	if s, ok := b.(shape); ok {
		return s
	}
	return opaque{b}
}

// logConcave marks a smooth shape for which ln P(q ≥ x) is concave wherever
// that is positive.
type logConcave interface {
	smooth
	logConcave() bool
}

// objective is (y+extra)·ω(P(q ≥ base+y)) over y > 0 with ω increasing. Either
// ω(p) = p/(1−p), the odds, as in φ. Or ω(p) = p/(share+(1−share)p), as in the
// indices; share 1 gives ω(p) = p. Only then may extra differ from zero. A negative
// y+extra makes the objective zero.
type objective struct {
	base, extra float64
	odds        bool
	share       float64
}

// at is the objective at y with the tails there.
func (o objective) at(d shape, y float64) (p point, below float64) {
	above, below := d.tails(o.base + y)
	p = point{y: y, above: above}
	if above > 0 && y+o.extra > 0 {
		p.value = (y + o.extra) * o.omega(above, below)
	}
	return p, below
}

func (o objective) omega(above, below float64) float64 {
	if o.odds {
		return above / below
	}
	return above / (o.share + (1-o.share)*above)
}

// point is the objective at y.
type point struct{ y, value, above float64 }

// none is the supremum of an objective that is zero everywhere.
var none = point{y: math.NaN()}

// maximise returns a point where the objective is largest, to about 1e-15 of
// its value (and y to 1e-7 of itself, or better for a belief with a density). A point at
// y = 0 stands for a limit. For opaque beliefs that jump there, the result is right to 1e-6
// only. Where P(q ≥ x) = 1 makes the odds infinite, value is +Inf.
func (o objective) maximise(d shape) point {
	if a, ok := d.(atomic); ok {
		return o.overAtoms(a)
	}
	return o.search(d)
}

// overAtoms tries every value.
func (o objective) overAtoms(d atomic) point {
	best := none
	for m := range d.atoms() {
		x, above, below := d.atom(m)
		y := x - o.base
		if !(y > 0) {
			break
		}
		if v := (y + o.extra) * o.omega(above, below); v > best.value {
			best = point{y, v, above}
		}
	}
	return best
}

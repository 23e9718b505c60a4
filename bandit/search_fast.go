package bandit

import (
	"cmp"
	"math"
	"slices"

	"github.com/rlrun/rlrun/internal/root"
)

// The search for the maximum of an objective over a belief with infinitely many values. A
// grid is the plain version, and the oracle of the test. It has no bound on its error. Here
// a bound of the objective on every cell proves which cells cannot hold the maximum.

// elasticity is dlnω/dlnp.
func (o objective) elasticity(above, below float64) float64 {
	if o.odds {
		return 1 / below
	}
	return o.share / (o.share + (1-o.share)*above)
}

// steepest bounds ω(p)/p over p ≤ above.
func (o objective) steepest(below float64) float64 {
	if o.odds {
		return 1 / below
	}
	return 1 / o.share
}

// cell is an interval between two points. As P(q ≥ x) falls and ω rises, the
// objective is at most right.y·ω(at the left end) on it.
type cell struct {
	left, right point
	bound       float64
}

// searchRatio is a ratio of the bound of a cell to the best value found. Below it the
// branch and bound leaves the cell to the local search for a smooth maximum. opaqueRatio
// is the same for beliefs that may jump.
const (
	searchRatio = 1e-3
	opaqueRatio = 1e-6
	searchLimit = 50000 // evaluations, in case P(q ≥ x) is mere rounding noise
)

// search is maximise for beliefs with infinitely many values. A branch and bound, valid for
// any belief, rules out all but the neighbourhood of the maxima that come near the best,
// which are then refined locally.
func (o objective) search(d shape) point {
	lo, hi := d.support()
	if hi <= o.base {
		return none
	}
	if o.share == 0 && !o.odds {
		return point{hi - o.base, hi - o.base, 0}
	}
	// Up to the support p = 1 and the objective rises. Up to −extra it is zero.
	first := max(0, lo-o.base, -o.extra)
	if first > 0 && o.odds {
		return point{first, math.Inf(1), 1}
	}
	if l, ok := d.(logConcave); ok && !o.odds && l.logConcave() {
		return o.climb(l, first, hi)
	}
	start, below := o.at(d, first)
	if s, ok := d.(smooth); ok && o.odds && lo == o.base {
		// y·p/(1−p) tends to one over the density at the lower end.
		start.value = 1 / s.density(lo)
		if math.IsInf(start.value, 1) {
			return start
		}
	}
	// Room on the stack: beta and normal-gamma beliefs take about 200 points and
	// 100 cells at once. More would be allocated.
	var pointRoom [256]point
	var cellRoom [2][128]cell
	points, cells, best := append(pointRoom[:0], start), cellRoom[0][:0], start
	if startOmega := o.omega(start.above, below); !math.IsInf(hi, 1) {
		cells = append(cells, o.cell(start, point{y: hi - o.base}, startOmega))
	} else {
		step := d.Gain(o.base + first)
		if !(step > 0) {
			return none
		}
		points, cells, best = o.enclose(d, startOmega, step, points, cells)
	}
	points, best = o.divide(d, best, points, cells, cellRoom[1][:0])
	if best.value == 0 {
		return none
	}
	if top := o.polish(d, points, best, hi); top.value > start.value*(1+1e-12) {
		return top
	}
	return start
}

// cell returns the cell between two points, given ω at the left one.
func (o objective) cell(left, right point, omega float64) cell {
	return cell{left, right, (right.y + o.extra) * omega}
}

// enclose appends points further and further from the first, where ω is given, and the
// cells between them. It doubles the distance, a step at first, until the rest cannot
// matter, by Markov's inequality: y·P(q−base ≥ y) ≤ E[(q−base)1{q−base ≥ Y}] for y ≥ Y. It
// returns these and the best point.
func (o objective) enclose(d shape, omega, step float64, points []point, cells []cell) ([]point, []cell, point) {
	left := points[0]
	first, best := left.y, left
	for y := first + step; !math.IsInf(y, 1); y = first + step {
		p, below := o.at(d, y)
		points = append(points, p)
		if p.value > best.value {
			best = p
		}
		cells = append(cells, o.cell(left, p, omega))
		left, omega = p, o.omega(p.above, below)
		rest := (d.Gain(o.base+y) + (y+o.extra)*p.above) * o.steepest(below)
		if rest <= best.value {
			break
		}
		step *= 2
	}
	return points, cells, best
}

// divide halves the cells that may hold the maximum, in turns, until the bounds of all are
// close to the best value. It appends the points, and returns them and the best.
func (o objective) divide(d shape, best point, points []point, cells, next []cell) ([]point, point) {
	ratio := searchRatio
	if _, ok := d.(opaque); ok {
		ratio = opaqueRatio
	}
	for len(cells) > 0 && len(points) < searchLimit {
		next = next[:0]
		for _, c := range cells {
			if !(c.bound > best.value*(1+ratio)) {
				continue
			}
			mid := c.split(best.value)
			if !(mid > c.left.y && mid < c.right.y) {
				continue
			}
			p, below := o.at(d, mid)
			points = append(points, p)
			if p.value > best.value {
				best = p
			}
			omega := 0.0
			if p.above > 0 {
				omega = o.omega(p.above, below)
			}
			next = append(next, cell{c.left, p, c.bound * ((p.y + o.extra) / (c.right.y + o.extra))}, o.cell(p, c.right, omega))
		}
		cells, next = next, cells
	}
	return points, best
}

// split halves the cell, or cuts a cell at zero such that the part at zero is
// ruled out.
func (c cell) split(best float64) float64 {
	l, r := c.left.y, c.right.y
	switch {
	case l == 0:
		return r * min(0.25, max(best/c.bound, 1e-10))
	case r > 2*l:
		return math.Sqrt(l) * math.Sqrt(r)
	}
	return l + (r-l)/2
}

// polish refines every local maximum of the points that may be the global one.
func (o objective) polish(d shape, points []point, best point, hi float64) point {
	slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.y, b.y) })
	top := best
	for k, p := range points {
		if p.value*(1+2*searchRatio) < best.value ||
			k > 0 && points[k-1].value > p.value ||
			k+1 < len(points) && points[k+1].value > p.value {
			continue
		}
		left, right := p.y, p.y
		if k > 0 {
			left = points[k-1].y
		}
		if k+1 < len(points) {
			right = points[k+1].y
		} else if !math.IsInf(hi, 1) {
			right = hi - o.base
		}
		// The root of the derivative places y better than values can.
		if r := o.refine(d, left, right); r.value > top.value*(1-1e-14) {
			top = r
		}
	}
	return top
}

// refine returns the maximum between two points that enclose just one: as the
// root of the derivative where there is a density, else by golden section.
func (o objective) refine(d shape, left, right float64) point {
	at := func(y float64) point {
		p, _ := o.at(d, y)
		return p
	}
	if s, ok := d.(smooth); ok {
		return at(root.Find(o.slope(s), left, right))
	}
	const golden = 0.6180339887498949
	a, b := at(right-golden*(right-left)), at(left+golden*(right-left))
	for range 60 {
		if a.value < b.value {
			left, a = a.y, b
			b = at(left + golden*(right-left))
		} else {
			right, b = b.y, a
			a = at(right - golden*(right-left))
		}
	}
	if a.value > b.value {
		return a
	}
	return b
}

// slope has the sign of the derivative of ln(y+extra) + ln ω.
func (o objective) slope(d smooth) func(y float64) float64 {
	return func(y float64) float64 {
		x := o.base + y
		above, below := d.tails(x)
		if above == 0 {
			return -1
		}
		return 1 - (y+o.extra)*d.density(x)/above*o.elasticity(above, below)
	}
}

// climb finds the maximum when ln P(q ≥ x) is concave and ω belongs to a share. Then ln ω
// = −ln(share/p + 1−share) is concave as well, so that ln(y+extra) + ln ω has a single
// maximum.
func (o objective) climb(d smooth, first, hi float64) point {
	slope := o.slope(d)
	first = max(first, -o.extra)
	left, right := first, hi-o.base
	if math.IsInf(hi, 1) {
		step := d.Gain(o.base + first)
		if step == 0 {
			return none // the maximum is at most as large
		}
		for right = first + step; slope(right) > 0; right = first + step {
			left = right
			step *= 2
		}
	}
	y := first // where the objective falls from the start
	if left > first || slope(first) > 0 {
		y = root.Find(slope, left, right)
	}
	if p, _ := o.at(d, y); p.value > 0 {
		return p
	}
	return none
}

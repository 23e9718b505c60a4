package bandit

import "math"

// ProbExceeds returns P(q_i ≥ q_j + δ) for independent beliefs. It is exact for two
// populations (all K² pairs, in O(K)), and as soon as one belief has finitely many
// values. Otherwise it is found by quadrature to about 1e-12.
func ProbExceeds(i, j Belief, delta float64) float64 {
	if a, ok := i.(*Population); ok {
		if b, ok := j.(*Population); ok {
			return populationsExceed(a, b, delta)
		}
	}
	a, b := shapeOf(i), shapeOf(j)
	if p, ok := fastExceeds(a, b, delta); ok {
		return p
	}
	return plainExceeds(a, b, delta)
}

// plainExceeds is ProbExceeds for any beliefs: the sum over the values of one that has
// finitely many, or the integral over the quantiles of q_j. It is the oracle of the fast
// versions in exceed_fast.go.
func plainExceeds(a, b shape, delta float64) float64 {
	sum := 0.0
	if d, ok := b.(atomic); ok {
		eachAtom(d, func(x, w float64) {
			above, _ := a.tails(x + delta)
			sum += w * above
		})
		return min(sum, 1)
	}
	if d, ok := a.(atomic); ok {
		eachAtom(d, func(x, w float64) {
			// P(q_j ≤ x−δ) = P(q_j < the next number).
			_, below := b.tails(math.Nextafter(x-delta, math.Inf(1)))
			sum += w * below
		})
		return min(sum, 1)
	}
	return integrateKinked(func(_, rest float64) float64 {
		above, _ := a.tails(upperQuantile(b, rest) + delta)
		return above
	}, 0, 1)
}

func eachAtom(d atomic, visit func(x, weight float64)) {
	before := 0.0
	for m := range d.atoms() {
		x, above, _ := d.atom(m)
		visit(x, above-before)
		before = above
	}
}

// ProbExceedsJoint returns the share of k with q_i^k ≥ q_j^k + δ, original
// member against original member, in O(K). The populations must be of one size.
func ProbExceedsJoint(i, j *Population, delta float64) float64 {
	n := len(i.x)
	if len(j.x) != n {
		panic("bandit: joint populations need one size")
	}
	var few [64]int32
	of := few[:]
	if n > len(few) {
		of = make([]int32, n)
	}
	for m, id := range j.rule.ids {
		of[id] = int32(m)
	}
	count := 0
	for m, id := range i.rule.ids {
		if i.at(m) >= j.at(int(of[id]))+delta {
			count++
		}
	}
	return float64(count) / float64(n)
}

// UpperQuantile returns the smallest x with P(q ≥ x) ≤ tail, up to rounding, for any belief,
// by bisection; −Inf if tail is 1 or more.
func UpperQuantile(b Belief, tail float64) float64 { return upperQuantile(shapeOf(b), tail) }

func upperQuantile(d shape, tail float64) float64 {
	if tail >= 1 {
		return math.Inf(-1)
	}
	short := func(x float64) bool {
		above, _ := d.tails(x)
		return above > tail
	}
	lo, hi := d.Mean(), d.Mean()
	for step := 1.0; short(hi) && !math.IsInf(hi, 0); step *= 2 {
		lo, hi = hi, hi+step
	}
	for step := 1.0; !short(lo) && !math.IsInf(lo, 0); step *= 2 {
		lo, hi = lo-step, lo
	}
	for {
		mid := lo + (hi-lo)/2
		if !(mid > lo && mid < hi) {
			return hi
		}
		if short(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
}

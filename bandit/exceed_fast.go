package bandit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// fastExceeds is ProbExceeds for those pairs of beliefs of which one has a density; else ok is
// false.
func fastExceeds(a, b shape, delta float64) (p float64, ok bool) {
	if _, ok := a.(atomic); ok {
		return 0, false
	}
	if _, ok := b.(atomic); ok {
		return 0, false
	}
	if s, ok := b.(smooth); ok {
		return smoothExceed(a, s, delta), true
	}
	if s, ok := a.(smooth); ok {
		return 1 - smoothExceed(b, s, -delta), true // no atoms: ≥ is as good as >
	}
	return 0, false
}

func populationsExceed(i, j *Population, delta float64) float64 {
	pairs, m := 0, 0 // m members of i are at least the threshold
	for k := range j.x {
		for bar := j.at(k) + delta; m < len(i.x) && i.at(m) >= bar; m++ {
		}
		pairs += m
	}
	return float64(pairs) / (float64(len(i.x)) * float64(len(j.x)))
}

// window is where all but a negligible part of a belief lies, with its centre
// and spread, for the quadrature to place its panels.
type window interface {
	window() (lo, centre, spread, hi float64)
}

func (d Beta) window() (lo, centre, spread, hi float64) {
	n := d.A + d.B
	return 0, d.A / n, math.Sqrt(d.A / n * (d.B / n) / (n + 1)), 1
}

func (d Gaussian) window() (lo, centre, spread, hi float64) {
	return d.Mu - 40*d.Sigma, d.Mu, d.Sigma, d.Mu + 40*d.Sigma
}

func (d NormalGamma) window() (lo, centre, spread, hi float64) {
	s := d.scale()
	return d.Mu - 1e20*s, d.Mu, s, d.Mu + 1e20*s
}

func (d ShiftedExponential) window() (lo, centre, spread, hi float64) {
	return d.Mu, d.Mu + 1/d.Rate, 1 / d.Rate, d.Mu + 750/d.Rate
}

func (d Uniform) window() (lo, centre, spread, hi float64) {
	return d.Lo, d.Mean(), (d.Hi - d.Lo) / 2, d.Hi
}

// smoothExceed is ∫ f_j(y) P(q_i ≥ y+δ) dy in panels around the bulk of both.
func smoothExceed(i shape, j smooth, delta float64) float64 {
	lo, centre, spread, hi := j.window()
	edges := []float64{lo, hi}
	mark := func(centre, spread float64) {
		for _, k := range []float64{-12, -3, 0, 3, 12} {
			edges = append(edges, centre+k*spread)
		}
	}
	mark(centre, spread)
	sure := 0.0
	if w, ok := i.(window); ok {
		from, centre, spread, to := w.window()
		mark(centre-delta, spread)
		if from-delta > lo {
			lo = from - delta
			_, sure = j.tails(lo)
			edges = append(edges, lo)
		}
		hi = min(hi, to-delta)
		edges = append(edges, hi)
	}
	if lo >= hi {
		return sure
	}
	slices.Sort(edges)
	edges = slices.Compact(slices.DeleteFunc(edges, func(e float64) bool { return e < lo || e > hi }))
	density := func(y, _, _ float64) float64 { return j.density(y) }
	above := func(y, _, _ float64) float64 { p, _ := i.tails(y + delta); return p }
	// The distances to 0 and 1 have to be exact for beliefs with small
	// parameters, which lie close to them.
	if b, ok := as[Beta](j); ok {
		left, right := lo, 1-hi
		density = func(_, fromLo, toHi float64) float64 { return b.densityAt(left+fromLo, right+toHi) }
	}
	if b, ok := as[Beta](i); ok {
		left, right := lo+delta, 1-(hi+delta)
		if lo == -delta {
			left = 0
		}
		if hi == 1-delta {
			right = 0
		}
		above = func(_, fromLo, toHi float64) float64 { p, _ := b.tailsAt(left+fromLo, right+toHi); return p }
	}
	sum := sure
	rule := integrate
	if _, ok := i.(opaque); ok {
		rule = integrateKinked
	}
	for k := range len(edges) - 1 {
		l, r := edges[k], edges[k+1]
		switch b, ok := as[Beta](j); {
		case ok && l == 0 && b.A < steepest:
			sum += b.endMass(r, func(x float64) float64 { return above(x, x-lo, hi-x) })
			continue
		case ok && r == 1 && b.B < steepest:
			sum += Beta{b.B, b.A}.endMass(1-l, func(x float64) float64 { return above(1-x, (1-lo)-x, x-(1-hi)) })
			continue
		}
		sum += rule(func(left, right float64) float64 {
			y := l + left
			if right < left {
				y = r - right
			}
			fromLo, toHi := (l-lo)+left, (hi-r)+right
			return density(y, fromLo, toHi) * above(y, fromLo, toHi)
		}, l, r)
	}
	return min(sum, 1)
}

// steepest is the parameter of a Beta below which more than 1e-14 of it may lie
// within 1e-290 of an end, where integrate has no nodes.
const steepest = 0.05

// endMass returns ∫ f(x) above(x) dx from 0 to width. In v = x^A the density is bounded.
func (d Beta) endMass(width float64, above func(x float64) float64) float64 {
	scale := math.Exp(-mathext.Lbeta(d.A, d.B)) / d.A
	return scale * integrate(func(v, _ float64) float64 {
		x := math.Pow(v, 1/d.A)
		return math.Exp((d.B-1)*math.Log1p(-x)) * above(x)
	}, 0, math.Pow(width, d.A))
}

// as returns a belief that is a T or points to one.
func as[T any](d any) (T, bool) {
	if p, ok := d.(*T); ok {
		return *p, true
	}
	t, ok := d.(T)
	return t, ok
}

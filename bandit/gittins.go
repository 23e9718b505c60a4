package bandit

import (
	"math"

	"github.com/rlrun/rlrun/internal/induction"
)

// Gittins returns the Gittins index of a Bernoulli arm with a Beta(a, b)
// belief, a, b > 0, at discount 0 ≤ gamma < 1. This is the value of a known arm
// at which an optimal player is indifferent between the two arms (Gittins
// 1979). It is correct to 1e-9. GittinsSolver is faster for many states of one
// discount.
func Gittins(a, b, gamma float64) float64 { return NewGittinsSolver(gamma, 1e-9).Index(a, b) }

// GittinsSolver computes Gittins indices of Beta-Bernoulli arms at one discount
// and remembers them. It is not safe for concurrent use.
//
// Consider a known arm of value λ. Let D(a,b) ≥ 0 be the largest expected
// discounted sum of (reward − λ) over all stopping times. It obeys
//
//	D(a,b) = max(0, C(a,b)),  C(a,b) = q̄ − λ + γ(q̄·D(a+1,b) + (1−q̄)·D(a,b+1))
//
// with q̄ = a/(a+b). The index is the root λ of C. The recursion is cut off at
// some depth, and wherever q̄ is so far from λ that a change of mind is all but
// impossible. Bounds take its place: from below (the arm that is better now
// stays better) and from above (the mean becomes known at once). C is convex in
// λ and falls with slope −1 or steeper. So Newton's method from the left on the
// lower bound of C gives lower bounds of the index. An upper bound of the index
// is λ + C with the upper bound of C.
type GittinsSolver struct {
	gamma, tol float64
	known      map[Beta][2]float64
	value      []float64 // D of the layer at hand, by number of successes
	slope      []float64 // dD/dλ
}

// NewGittinsSolver returns a solver with brackets at most tol > 0 wide, down to
// about 1e-12, for 0 ≤ gamma < 1. The depth of the recursion, hence the time,
// grows as ln(1/tol)/(1−gamma).
func NewGittinsSolver(gamma, tol float64) *GittinsSolver {
	if !(gamma >= 0 && gamma < 1) {
		panic("bandit: a Gittins index needs a discount in [0,1)")
	}
	if !(tol > 0) {
		panic("bandit: a Gittins index needs a positive tolerance")
	}
	return &GittinsSolver{gamma: gamma, tol: max(tol, 1e-12), known: make(map[Beta][2]float64)}
}

// Index returns the Gittins index of a Beta(a, b) arm, a, b > 0, to half the
// tolerance.
func (g *GittinsSolver) Index(a, b float64) float64 {
	lo, hi := g.bracket(a, b)
	return lo + (hi-lo)/2
}

// bracket returns bounds of the Gittins index of a Beta(a, b) arm, a, b > 0,
// no further apart than the tolerance, up to the rounding of the recursion.
func (g *GittinsSolver) bracket(a, b float64) (lo, hi float64) {
	if !(a > 0 && b > 0) || math.IsInf(a+b, 1) {
		panic("bandit: a beta belief needs positive parameters")
	}
	arm := Beta{a, b}
	if k, ok := g.known[arm]; ok {
		return k[0], k[1]
	}
	lo = knowledgeGradientIndex(a, b, g.gamma)
	hi = lo
	if g.gamma > 0 {
		for tol := 1e-2; tol > g.tol; tol *= 1e-2 {
			lo = g.climb(arm, lo, g.depth(tol), tol)
		}
		for depth := g.depth(g.tol); ; depth += 1 + depth/4 {
			lo = g.climb(arm, lo, depth, g.tol)
			c, _ := g.advantage(arm, lo, depth, g.tol, true)
			hi = lo + max(c, 0)
			if hi-lo <= g.tol {
				break
			}
		}
	}
	g.known[arm] = [2]float64{lo, hi}
	return lo, hi
}

// climb raises a lower bound of the index by Newton's method, whose error after
// a step is of the order of the square of the step.
func (g *GittinsSolver) climb(arm Beta, lo float64, depth int, tol float64) float64 {
	for range 100 {
		c, slope := g.advantage(arm, lo, depth, tol, false)
		step := -c / slope
		if !(step > 0) {
			break
		}
		lo += step
		if step < math.Sqrt(tol)/30 {
			break
		}
	}
	return lo
}

// depth guesses how many pulls ahead the recursion must look to be within tol.
func (g *GittinsSolver) depth(tol float64) int {
	return int(max(4, math.Log(min(500*tol, 0.5))/math.Log(g.gamma)))
}

// advantage returns a lower or upper bound of C at λ for the arm, and its slope
// in λ, by recursion from the given depth.
func (g *GittinsSolver) advantage(arm Beta, lambda float64, depth int, tol float64, upper bool) (c, slope float64) {
	if len(g.value) < depth+2 {
		g.value = make([]float64, depth+2)
		g.slope = make([]float64, depth+2)
	}
	value, slopes := g.value, g.slope
	forever := 1 / (1 - g.gamma)
	n0 := arm.A + arm.B
	// A Beta(a,b) mean is sub-Gaussian with proxy variance 1/(4(a+b+1))
	// (Marchal & Arbel 2017). Let t be the distance of q̄ from λ. The smaller
	// of E(q−λ)⁺ and E(λ−q)⁺ is below e^{−2(a+b+1)t²}/(4(a+b+1)t).
	doubt := math.Log(1 / (1e-3 * tol * (1 - g.gamma)))
	band := func(n int) (first, last int, rest float64) {
		size := n0 + float64(n)
		t := math.Sqrt(doubt / (2 * (size + 1)))
		first = int(max(0, math.Floor((lambda-t)*size-arm.A)+1))
		last = int(min(float64(n), math.Ceil((lambda+t)*size-arm.A)-1))
		if upper {
			rest = math.Exp(-doubt) / (4 * (size + 1) * t) * forever
		}
		return first, last, rest
	}
	leaf := func(n, s int, rest float64) {
		size := n0 + float64(n)
		if q := (arm.A + float64(s)) / size; q > lambda {
			value[s], slopes[s] = (q-lambda)*forever+rest, -forever
		} else {
			value[s], slopes[s] = rest, 0
		}
	}

	first, last, rest := band(depth)
	for s := 0; s <= depth; s++ {
		leaf(depth, s, rest)
		if upper && first <= s && s <= last {
			// Scarf's bound of E(q−λ)⁺ by mean and variance.
			size := n0 + float64(depth)
			q := (arm.A + float64(s)) / size
			value[s] = (math.Sqrt(q*(1-q)/(size+1)+(q-lambda)*(q-lambda)) + q - lambda) / 2 * forever
		}
	}
	induction.Backward([][]float64{value}, depth, func(left int, value, _ []float64) bool {
		n := depth - left
		nextFirst, nextLast, nextRest := first, last, rest
		first, last, rest = band(n)
		if n == 0 {
			first, last = 0, 0
		}
		for s := first; s < min(nextFirst, last+2); s++ {
			leaf(n+1, s, nextRest)
		}
		for s := max(nextLast+1, first); s <= last+1; s++ {
			leaf(n+1, s, nextRest)
		}
		if first > last {
			return false
		}
		scale := 1 / (n0 + float64(n))
		value, slopes := value[first:last+2], slopes[first:last+2] // of the band
		slopes = slopes[:len(value)]
		for i := 0; i < len(value)-1; i++ {
			q := (arm.A + float64(first+i)) * scale
			v := q - lambda + g.gamma*(q*value[i+1]+(1-q)*value[i])
			w := -1 + g.gamma*(q*slopes[i+1]+(1-q)*slopes[i])
			if v < 0 && n > 0 {
				v, w = 0, 0
			}
			value[i], slopes[i] = v, w
		}
		return false
	})
	return value[0], slopes[0]
}

// knowledgeGradientIndex is a lower bound of the Gittins index of a Beta(a, b)
// arm. It is the index if the player may try a single pull, and must then keep
// the better of the two arms for good. With k = γ/(1−γ)
//
//	λ = q̄ (1 + k (a+1)/(a+b+1)) / (1 + k q̄)
//
// (the one-step look-ahead of the knowledge gradient, Ryzhov, Powell & Frazier
// 2012, turned into an index). 0 ≤ gamma < 1.
func knowledgeGradientIndex(a, b, gamma float64) float64 {
	if !(gamma >= 0 && gamma < 1) {
		panic("bandit: discount outside [0,1)")
	}
	if !(a > 0 && b > 0) {
		panic("bandit: a beta belief needs positive parameters")
	}
	q := a / (a + b)
	k := gamma / (1 - gamma)
	return q * (1 + k*(a+1)/(a+b+1)) / (1 + k*q)
}

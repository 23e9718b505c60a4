package main

import (
	"container/heap"
	"errors"
	"math"

	"github.com/rlrun/rlrun/bandit"
)

// discountedOptimum brackets the Bayes-optimal expected discounted reward
// E Σ_k γ^k r_k of Bernoulli arms with independent Beta priors, as many as one
// likes: lo ≤ V* ≤ hi. The two are at most tol·G apart, G = 1/(1−γ); their mean
// is much closer than that.
//
// It needs one arm at a time only. Let an arm be pulled until one retires for a
// wage λ per pull, at the best time τ_i(λ), and let φ_i(λ) = E γ^τ_i(λ). Then
//
//	V* = G·(1 − ∫₀¹ Π_i φ_i(λ) dλ)
//
// (Whittle 1980, "Multi-armed bandits and the Gittins index", eq. 4 with no
// reward for retiring; φ_i is the slope of the retirement value). φ_i comes from
// backward induction over the arm's counts, cut off where γ^pulls < tol/100. It
// is non-decreasing, so sums over intervals bracket the integral.
//
// The time is proportional to 1/tol · (ln tol / ln γ)² for each distinct prior:
// seconds for γ = 0.99 and tol = 0.001. It fails if γ is not in [0,1), tol not in
// (0,1), or a prior's parameters are not positive.
func discountedOptimum(priors []bandit.Beta, gamma, tol float64) (lo, hi float64, err error) {
	if !(gamma >= 0 && gamma < 1) {
		return 0, 0, errors.New("an infinite horizon needs a discount in [0,1)")
	}
	if !(tol > 0 && tol < 1) {
		return 0, 0, errors.New("the tolerance must be in (0,1)")
	}
	if len(priors) == 0 {
		return 0, 0, errors.New("there must be at least one arm")
	}
	arms := map[bandit.Beta]int{}
	for _, p := range priors {
		if _, err := bandit.NewBeta(p.A, p.B); err != nil {
			return 0, 0, err
		}
		arms[p]++
	}
	depth, cut := 1, gamma
	for ; cut >= tol/100 && depth < math.MaxInt32; depth++ {
		cut *= gamma
	}
	product := func(wage float64) float64 {
		f := 1.0
		for prior, n := range arms {
			// The value of retirement is λ + (1−γ)·max(0, C); its slope is φ.
			if c, slope := retirement(prior, wage, gamma, depth); c > 0 {
				f *= math.Pow(1+(1-gamma)*slope, float64(n))
			}
		}
		return f
	}
	// Halve the interval that adds most to the gap between the two sums.
	intervals := gaps{{0, 1, product(0), product(1)}}
	gap := intervals[0].size()
	for gap > tol && len(intervals) < maxIntervals {
		x := intervals[0]
		gap -= x.size()
		mid := (x.left + x.right) / 2
		f := product(mid)
		a, b := interval{x.left, mid, x.below, f}, interval{mid, x.right, f, x.above}
		intervals[0] = a
		heap.Fix(&intervals, 0)
		heap.Push(&intervals, b)
		gap += a.size() + b.size()
	}
	under, over := 0.0, 0.0
	for _, x := range intervals {
		under += (x.right - x.left) * x.below
		over += (x.right - x.left) * x.above
	}
	total := 1 / (1 - gamma)
	return total * (1 - over - cut), total * (1 - under + cut), nil
}

// retirement returns what an arm is worth above a wage for good, if one may retire at any time, and the
// slope of that in the wage. It is found by backward induction from depth pulls on, where the arm is kept for
// good if its mean is above the wage. At first it is pulled.
func retirement(arm bandit.Beta, wage, gamma float64, depth int) (c, slope float64) {
	value, slopes := make([]float64, depth+1), make([]float64, depth+1) // by number of successes
	for n := depth; n >= 0; n-- {
		for s := range n + 1 {
			q := (arm.A + float64(s)) / (arm.A + arm.B + float64(n))
			switch {
			case n < depth:
				value[s] = q - wage + gamma*(q*value[s+1]+(1-q)*value[s])
				slopes[s] = -1 + gamma*(q*slopes[s+1]+(1-q)*slopes[s])
			case q > wage:
				value[s], slopes[s] = (q-wage)/(1-gamma), -1/(1-gamma)
			}
			if value[s] < 0 && n > 0 {
				value[s], slopes[s] = 0, 0
			}
		}
	}
	return value[0], slopes[0]
}

// maxIntervals ends the halving where rounding keeps the gap above the tolerance. The
// bounds hold then, but are further apart.
const maxIntervals = 1 << 20

// interval is a piece of [0,1] with the integrand at its ends.
type interval struct{ left, right, below, above float64 }

func (x interval) size() float64 { return (x.right - x.left) * (x.above - x.below) }

// gaps is a heap of intervals, the one that adds most to the gap on top.
type gaps []interval

func (g gaps) Len() int           { return len(g) }
func (g gaps) Less(i, j int) bool { return g[i].size() > g[j].size() }
func (g gaps) Swap(i, j int)      { g[i], g[j] = g[j], g[i] }
func (g *gaps) Push(x any)        { *g = append(*g, x.(interval)) }
func (g *gaps) Pop() any {
	old := *g
	x := old[len(old)-1]
	*g = old[:len(old)-1]
	return x
}

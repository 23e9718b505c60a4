package bandit

import (
	"math"
	"slices"
)

// Horizon says how much each later reward counts: reward k (k = 0, 1, …, N)
// has weight g(k) ≥ 0. All sums are inclusive, so a horizon N has N+1 rewards.
// The zero Horizon is Discounted(0): only the next reward counts.
//
// Everything the exploration threshold needs of a horizon is the share ρ_T of
// the total weight that T exploratory pulls use up (docs/theory.md §0).
type Horizon struct {
	gamma   float64
	rewards float64 // N+1, or 0 for N = ∞
	// For arbitrary weights only: g, its sums over k < T and over k ≥ T.
	weights, head, tail []float64
}

// Discounted is g(k) = γ^k for ever (N = ∞), 0 ≤ γ < 1.
func Discounted(gamma float64) Horizon {
	if !(gamma >= 0 && gamma < 1) {
		panic("bandit: an infinite horizon needs a discount in [0,1)")
	}
	return Horizon{gamma: gamma}
}

// DiscountedFinite is g(k) = γ^k for k = 0, …, n with 0 ≤ γ ≤ 1 and n ≥ 0.
func DiscountedFinite(gamma float64, n int) Horizon {
	if !(gamma >= 0 && gamma <= 1) {
		panic("bandit: discount outside [0,1]")
	}
	if n < 0 {
		panic("bandit: negative horizon")
	}
	return Horizon{gamma: gamma, rewards: float64(n) + 1}
}

// Finite is g(k) = 1 for k = 0, …, n, that is n+1 rewards that count alike.
func Finite(n int) Horizon { return DiscountedFinite(1, n) }

// Weights is an arbitrary g, copied. The weights must be finite and
// non-negative with a positive sum. Budgeted learning, where the pulls before
// the budget T is spent do not count, is g(k) = 0 for k < T (Madani, Lizotte &
// Greiner 2004).
func Weights(g []float64) Horizon {
	for _, w := range g {
		if !(w >= 0) || math.IsInf(w, 1) {
			panic("bandit: a horizon's weights must be finite and non-negative")
		}
	}
	h := weighted(slices.Clone(g))
	if total := h.Total(); !(total > 0) || math.IsInf(total, 1) {
		panic("bandit: a horizon's weights must have a positive, finite sum")
	}
	return h
}

// weighted takes over g and sums it from both ends.
func weighted(g []float64) Horizon {
	h := Horizon{rewards: float64(len(g)), weights: g,
		head: make([]float64, len(g)+1), tail: make([]float64, len(g)+1)}
	var up, down compensated
	for k, w := range g {
		up.add(w)
		h.head[k+1] = up.value()
		last := len(g) - 1 - k
		down.add(g[last])
		h.tail[last] = down.value()
	}
	return h
}

// compensated is Neumaier's running sum.
type compensated struct{ sum, low float64 }

func (c *compensated) add(x float64) {
	t := c.sum + x
	if math.Abs(c.sum) >= math.Abs(x) {
		c.low += (c.sum - t) + x
	} else {
		c.low += (x - t) + c.sum
	}
	c.sum = t
}

func (c *compensated) value() float64 { return c.sum + c.low }

// Rewards returns N+1, the number of rewards that count: +Inf if N = ∞.
func (h Horizon) Rewards() float64 {
	if h.rewards == 0 {
		return math.Inf(1)
	}
	return h.rewards
}

// Total returns G = Σ_k g(k).
func (h Horizon) Total() float64 {
	if h.head != nil {
		return h.head[len(h.head)-1]
	}
	return geometric(h.gamma, h.Rewards())
}

// Head returns G_T = Σ_{k<T} g(k), the weight of the first T ≥ 1 rewards.
// T may exceed the number of rewards.
func (h Horizon) Head(hold int) float64 {
	checkHold(hold)
	if h.head != nil {
		return h.head[min(hold, len(h.head)-1)]
	}
	return geometric(h.gamma, min(float64(hold), h.Rewards()))
}

// Tail returns H_T = Σ_{k≥T} g(k), the weight left after T ≥ 1 rewards. It is
// summed from its own terms, not taken as a difference.
func (h Horizon) Tail(hold int) float64 {
	checkHold(hold)
	if h.tail != nil {
		return h.tail[min(hold, len(h.tail)-1)]
	}
	left := h.Rewards() - float64(hold)
	if left <= 0 || h.gamma == 0 {
		return 0
	}
	return power(h.gamma, float64(hold)) * geometric(h.gamma, left)
}

// Share returns ρ_T = G_T/G in [0,1], the share of the total weight that the
// first T ≥ 1 rewards carry. It is 1−γ^T if N = ∞, T/(N+1) undiscounted, 0 for
// budgeted learning with budget T, and 1 if T > N.
func (h Horizon) Share(hold int) float64 {
	checkHold(hold)
	if h.head == nil && h.rewards == 0 {
		return -math.Expm1(float64(hold) * math.Log(h.gamma))
	}
	total := h.Total()
	if total == 0 {
		return 1
	}
	return h.Head(hold) / total
}

// After returns the horizon that is left when k ≥ 0 rewards are in: reward m
// then has weight proportional to g(k+m). A discounted infinite horizon stays
// as it is. Past its end a horizon keeps its last reward, so that its share is
// 1 and nothing is worth exploring.
func (h Horizon) After(k int) Horizon {
	switch {
	case k < 0:
		panic("bandit: negative number of rewards")
	case h.rewards == 0:
		return h
	case h.head == nil:
		h.rewards = max(1, h.rewards-float64(k))
		return h
	}
	return weighted(h.weights[min(k, len(h.weights)-1):])
}

// Weight returns g(k), k ≥ 0; zero beyond the horizon.
func (h Horizon) Weight(k int) float64 {
	switch {
	case k < 0:
		panic("bandit: negative number of rewards")
	case float64(k) >= h.Rewards():
		return 0
	case h.head != nil:
		return h.weights[k]
	case k == 0:
		return 1
	}
	return power(h.gamma, float64(k))
}

func checkHold(hold int) {
	if hold < 1 {
		panic("bandit: an option is held for at least one pull")
	}
}

// power is γ^t with relative error of order |t ln γ|·2⁻⁵³; math.Pow squares
// repeatedly, which costs t·2⁻⁵³.
func power(gamma, t float64) float64 { return math.Exp(t * math.Log(gamma)) }

// geometric is Σ_{k<n} γ^k for n ≥ 1, possibly infinite.
func geometric(gamma, n float64) float64 {
	switch {
	case gamma == 1:
		return n
	case gamma == 0:
		return 1
	}
	return -math.Expm1(n*math.Log(gamma)) / (1 - gamma)
}

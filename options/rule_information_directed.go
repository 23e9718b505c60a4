package options

import (
	"math"
	"slices"
)

// RuleInformationDirected is information-directed sampling (Russo & Van Roy 2014) on options, with the variance of
// their section 4.3 in place of the information. Let x* be the best option of a member, the first of equal ones and the greedy one before
// all. Option x has the expected regret Δ(x) = E v(x*) − v̄(x), and the information g(x) = E (E[v(x)|x*] − v̄(x))².
// The option is drawn from the distribution of the least (E Δ)²/E g, which has at most two options. An
// uninformed option is worth what it earns.
var RuleInformationDirected = &Rule{
	Name: "information-directed",
	Doc:  "by the least squared regret per information about which option is best; the option is drawn",
	begin: func(c *Comparison) {
		c.exact, c.mean = true, mean(c.row(c.Greedy))
		c.common = c.informationDirected()
	},
	compare: func(c *Comparison, x int) ComparisonResult {
		r := ComparisonResult{Option: x, Advantage: -c.ceilings[x]}
		if x == c.common { // what the drawn one shows, as a standard deviation, and its lead
			r.Advantage = math.Sqrt(c.ceilings[len(c.Arms)+x]) + max(0, mean(c.row(x))-c.mean)
		}
		return r
	},
}

// informationDirected draws an option. It leaves regrets and information of all in c.ceilings.
func (c *Comparison) informationDirected() int {
	n, k := len(c.Arms), c.members
	c.ceilings = slices.Grow(c.ceilings[:0], 2*n+k)[:2*n+k]
	clear(c.ceilings)
	regret, information, best := c.ceilings[:n], c.ceilings[n:2*n], c.ceilings[2*n:] // the best by member
	for m := range best {
		most := c.Greedy
		for x := range n {
			if c.row(x)[m] > c.row(most)[m] {
				most = x
			}
		}
		best[m] = float64(most)
		for x := range n {
			regret[x] += (c.row(most)[m] - c.row(x)[m]) / float64(k)
		}
	}
	if regret[c.Greedy] == 0 { // it is best in all members
		return c.Greedy
	}
	for x := range n {
		values, v := c.row(x), mean(c.row(x))
		for y := range n {
			sum, times := 0.0, 0.0
			for m, b := range best {
				if b == float64(y) {
					sum, times = sum+values[m]-v, times+1
				}
			}
			if times > 0 {
				information[x] += sum * sum / times / float64(k)
			}
		}
	}
	a, b, q, least := c.Greedy, c.Greedy, 0.0, math.Inf(1) // option b with probability q, else a
	for x := range n {
		for y := range n {
			loss, gain := regret[y]-regret[x], information[y]-information[x]
			for _, share := range []float64{0, 1, regret[x]/loss - 2*information[x]/gain} {
				d, g := regret[x]+share*loss, information[x]+share*gain
				ratio := d * d / g
				if d == 0 {
					ratio = 0
				}
				if share >= 0 && share <= 1 && ratio < least {
					a, b, q, least = x, y, share, ratio
				}
			}
		}
	}
	if c.RNG.Float64() < q {
		return b
	}
	return a
}

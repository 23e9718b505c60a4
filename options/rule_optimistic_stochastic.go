package options

import "github.com/rlrun/rlrun/bandit"

// RuleOptimisticStochastic draws a member for each option and compares the value
// in this member: Algorithm 2 of the paper. δ is its lead, and the advantage is
// δp − ρ(1−p)(v̄(y)−b). For an uninformed option it is (B) of docs/theory.md §3.2
// with that δ.
var RuleOptimisticStochastic = &Rule{
	Name:    "optimistic-stochastic",
	Doc:     "by a member drawn for each option (the paper's Algorithm 2)",
	Bounds:  []bandit.IndexKind{bandit.U},
	Horizon: true,
	begin: func(c *Comparison) {
		c.mean = c.population(&c.Problem, c.Greedy).Mean()
		c.common, c.exact = -1, true
		if c.Config.Common {
			c.common = c.RNG.IntN(c.members)
		}
	},
	compare: func(c *Comparison, x int) ComparisonResult {
		k := c.common
		if k < 0 {
			k = c.RNG.IntN(c.members)
		}
		values, r := c.row(x), ComparisonResult{Option: x}
		if c.Arms[x].Class == Uninformed {
			y := c.row(c.Greedy)
			r.Delta = max(0, c.Optimal[k]-y[k])
			n := 0
			for l, v := range c.Optimal {
				if v-y[l] >= r.Delta {
					n++
				}
			}
			r.P = float64(n) / float64(len(y))
			r.Advantage = c.afterReveal(x, r.Delta*r.P)
			return r
		}
		n := 0
		for _, v := range values {
			if v >= values[k] {
				n++
			}
		}
		r.Delta, r.P = values[k]-c.mean, float64(n)/float64(len(values))
		r.Advantage = r.Delta*r.P - (1-r.P)*(c.Share*(c.mean-c.Config.LowerBound))
		return r
	},
}

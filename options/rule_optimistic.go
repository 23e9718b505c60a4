package options

import "github.com/rlrun/rlrun/bandit"

// RuleOptimistic compares each option with the mean value of the greedy one, as
// if this value were known. It is Algorithm 1 of the paper: (★) of
// docs/theory.md §1.1 for the bound U, §1.8 for the other bounds.
var RuleOptimistic = &Rule{
	Name:    "optimistic",
	Doc:     "with the mean value of the greedy option (the paper's Algorithm 1)",
	Bounds:  everyBound,
	Horizon: true,
	begin:   func(c *Comparison) { c.mean = c.population(&c.Problem, c.Greedy).Mean() },
	compare: func(c *Comparison, x int) ComparisonResult {
		if c.Arms[x].Class == Uninformed {
			return c.uninformed(x)
		}
		b := c.population(&c.Problem, x)
		r := ComparisonResult{Option: x, Advantage: bandit.BestAdvantage(c.Config.Bound, b, c.mean, c.Config.LowerBound, c.Share)}
		var advantage float64
		r.Delta, r.P, advantage = c.terms(b, c.mean)
		if c.Config.Bound == bandit.U && advantage < 0 {
			r.Advantage = advantage // the index also counts δ ≤ 0, which only matters here
		}
		return r
	},
}

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
		r := ComparisonResult{Option: x}
		switch c.Config.Bound {
		case bandit.U:
			// At ρ = 1 the index with lower bound l is l + sup (v−l)P(v_k(x) ≥ v).
			cost := c.Share * (c.mean - c.Config.LowerBound)
			l := c.mean - cost
			r.Advantage = bandit.Index(bandit.U, b, 1, l) - l - cost
		case bandit.UPlus:
			r.Advantage = (1-c.Share)*(bandit.Index(bandit.U, b, 1, c.mean)-c.mean) - c.Share*(c.mean-b.Mean())
		default:
			r.Advantage = (1-c.Share)*b.Gain(c.mean) - c.Share*(c.mean-b.Mean())
		}
		var advantage float64
		r.Delta, r.P, advantage = c.terms(b, c.mean)
		if c.Config.Bound == bandit.U && advantage < 0 {
			r.Advantage = advantage // the index also counts δ ≤ 0, which only matters here
		}
		return r
	},
}

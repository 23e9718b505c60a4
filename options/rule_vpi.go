package options

import "math"

// RuleVPI adds to the mean value of every option its value of perfect information and
// chooses the largest sum (Dearden, Friedman & Russell 1998). With y the greedy option
// and z the best of the others,
//
//	VPI(x) = E(v(x) − v̄(y))⁺ for x ≠ y,  VPI(y) = E(v̄(z) − v(y))⁺.
//
// An uninformed option has ζ E(v* − v(y))⁺. The rule knows no horizon.
var RuleVPI = &Rule{
	Name: "vpi",
	Doc:  "by mean value plus value of perfect information; the option of the largest sum is chosen",
	begin: func(c *Comparison) {
		y := c.row(c.Greedy)
		c.mean = mean(y)
		second := math.Inf(-1)
		for x := range c.Arms {
			if x != c.Greedy {
				second = max(second, mean(c.row(x)))
			}
		}
		gain := 0.0
		for _, v := range y {
			gain += max(0, second-v)
		}
		c.index = c.mean + gain/float64(len(y))
	},
	compare: func(c *Comparison, x int) ComparisonResult {
		r, values := ComparisonResult{Option: x}, c.row(x)
		better, gain, weight := 0, 0.0, 1.0
		for k, v := range values {
			lead := v - c.mean
			if c.Arms[x].Class == Uninformed {
				lead, weight = c.Optimal[k]-c.row(c.Greedy)[k], c.Arms[x].RevealProbability
			}
			if lead > 0 {
				better++
				gain += lead
			}
		}
		n := float64(len(values))
		r.Advantage = mean(values) + weight*gain/n - c.index
		if better > 0 {
			r.Delta, r.P = gain/float64(better), float64(better)/n
		}
		return r
	},
}

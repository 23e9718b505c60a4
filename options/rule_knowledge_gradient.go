package options

// RuleKnowledgeGradient is the knowledge gradient for sums of rewards (Ryzhov, Powell & Frazier 2012) on options.
// A trial of x shows its value. It raises the best mean value by
//
//	ν(x) = E max(v(x), m) − max(v̄(x), m),  m the best mean of the others,
//
// which counts in all steps that are left. They are (1−ρ)/ρ commitments of x. The option of the largest
// ρ v̄(x) + (1−ρ) ν(x) is chosen. An uninformed option shows everything, with probability ζ.
var RuleKnowledgeGradient = &Rule{
	Name:    "knowledge-gradient",
	Doc:     "by mean value plus what a trial raises the best mean value by, as often as the horizon has room; the option of the largest sum is chosen",
	Horizon: true,
	begin: func(c *Comparison) {
		c.mean = mean(c.row(c.Greedy))
		c.index = c.knowledgeGradient(c.Greedy)
	},
	compare: func(c *Comparison, x int) ComparisonResult {
		r, better, gradient, shown := ComparisonResult{Option: x}, 0, c.knowledgeGradient(x), c.row(x)
		if c.Arms[x].Class == Uninformed {
			shown = c.Optimal
		}
		for _, v := range shown {
			if v > c.mean {
				better++
			}
		}
		r.Advantage = c.Share*(mean(c.row(x))-c.mean) + (1-c.Share)*(gradient-c.index)
		if gradient > 0 && better > 0 {
			r.P = float64(better) / float64(c.members)
			r.Delta = gradient / r.P
		}
		return r
	},
}

// knowledgeGradient returns ν(x).
func (c *Comparison) knowledgeGradient(x int) float64 {
	values, others, first := c.row(x), 0.0, true
	for y := range c.Arms {
		if y != x && (first || mean(c.row(y)) > others) {
			others, first = mean(c.row(y)), false
		}
	}
	if c.Arms[x].Class == Uninformed {
		return c.Arms[x].RevealProbability * max(0, mean(c.Optimal)-max(others, mean(values)))
	}
	best := 0.0
	for _, v := range values {
		best += max(v, others) / float64(len(values))
	}
	return max(0, best-max(others, mean(values)))
}

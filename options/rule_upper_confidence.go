package options

import "math"

// RuleUpperConfidence plays options as the arms of UCB1 (Auer, Cesa-Bianchi & Fischer 2002, fig. 1):
// option x, which was chosen n_x times in the run, has the index r̄_x + R√(2 ln n/n_x), where r̄_x is the mean
// reward per step while it was followed, n = Σn_x, and R the range of the rewards per step of all
// options. Options that were never chosen come first. What the members believe does not count, so it is
// the baseline of a host that knows only what options earned.
var RuleUpperConfidence = &Rule{
	Name:   "upper-confidence",
	Doc:    "by what options earned in the run, as the arms of UCB1; values in members do not count",
	Trials: true,
	begin: func(c *Comparison) {
		c.exact = true
		n, low, high := 0, math.Inf(1), math.Inf(-1)
		for _, t := range c.Trials {
			n += t.Count
			if t.Steps > 0 {
				low, high = min(low, t.Reward/float64(t.Steps)), max(high, t.Reward/float64(t.Steps))
			}
		}
		c.mean, c.size = math.Log(float64(max(n, 1))), max(high-low, 0)
		c.index = c.upperConfidence(c.Greedy)
	},
	compare: func(c *Comparison, x int) ComparisonResult {
		return ComparisonResult{Option: x, Advantage: c.upperConfidence(x) - c.index}
	},
}

// upperConfidence returns the index of option x. One that was never chosen has a larger one than all others.
func (c *Comparison) upperConfidence(x int) float64 {
	t := c.Trials[x]
	if t.Steps == 0 {
		return math.MaxFloat64 / 4
	}
	return t.Reward/float64(t.Steps) + c.size*math.Sqrt(2*c.mean/float64(t.Count))
}

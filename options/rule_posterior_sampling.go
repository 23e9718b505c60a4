package options

// RulePosteriorSampling chooses the option that is best in a member, which is drawn anew for
// every decision (Thompson 1933; Strens 2000). Of options with equal values in that member the greedy one
// comes first. An uninformed option is worth what it earns.
var RulePosteriorSampling = &Rule{
	Name: "posterior-sampling",
	Doc:  "by the values in one member, which is drawn anew for every decision; the option of the largest is chosen",
	begin: func(c *Comparison) {
		c.exact = true
		c.common = c.RNG.IntN(c.members)
	},
	compare: func(c *Comparison, x int) ComparisonResult {
		values, y := c.row(x), c.row(c.Greedy)
		r := ComparisonResult{Option: x, Advantage: values[c.common] - y[c.common]}
		if r.Advantage > 0 {
			n := 0
			for k, v := range values {
				if v-y[k] >= r.Advantage {
					n++
				}
			}
			r.Delta, r.P = r.Advantage, float64(n)/float64(len(values))
		}
		return r
	},
}

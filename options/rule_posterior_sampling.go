package options

import "github.com/rlrun/rlrun/bandit"

// RulePosteriorSampling chooses the option that is best in a member, which is drawn anew for
// every decision (Thompson 1933; Strens 2000). Of options with equal values in that member the greedy one
// comes first. An uninformed option is worth what it earns.
var RulePosteriorSampling Rule = rulePosteriorSampling{}

type rulePosteriorSampling struct{}

func (rulePosteriorSampling) String() string { return "posterior-sampling" }

func (rulePosteriorSampling) Doc() string {
	return "by the values in one member, which is drawn anew for every decision; the option of the largest is chosen"
}

func (rulePosteriorSampling) Bounds() []bandit.IndexKind { return nil }

func (rulePosteriorSampling) Begin(c *Comparison) {
	c.exact = true
	c.common = c.RNG.IntN(c.members)
}

func (rulePosteriorSampling) Compare(c *Comparison, x int) ComparisonResult {
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
}

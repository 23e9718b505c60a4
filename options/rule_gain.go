package options

// RuleGain decides between options of kind Pairs: a pair is worth exploring if its
// gain exceeds its cost, condition (T). Of those, the one of the largest advantage per
// expected step is chosen (Smith 1956); if there are none, the greedy option. Gain and
// cost hold the horizon already, and no bound is used.
var RuleGain = &Rule{
	Name:    "gain",
	Doc:     "for pairs: the gain of trying a pair with its cost; of the pairs that pay, that of the largest advantage per step is chosen",
	begin:   func(c *Comparison) { c.exact = true },
	compare: func(c *Comparison, x int) ComparisonResult { return c.pair(x) },
	best: func(c *Comparison) ComparisonResult { // a pair that pays comes before one that does not, and then the larger rate
		best := 0
		for i, p := range c.Pairs {
			if b := c.Pairs[best]; p.Advantage() > 0 && b.Advantage() <= 0 || (p.Advantage() > 0) == (b.Advantage() > 0) && p.Rate() > b.Rate() {
				best = i
			}
		}
		return c.pair(len(c.Arms) + best)
	},
}

// pair is the result of option x, which is a pair.
func (c *Comparison) pair(x int) ComparisonResult {
	p := c.Pairs[x-len(c.Arms)]
	return ComparisonResult{Option: x, Advantage: p.Advantage(), Delta: p.Gain, P: 1}
}

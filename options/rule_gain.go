package options

import "github.com/rlrun/rlrun/bandit"

// RuleGain decides between options of kind Pairs: a pair is worth exploring if its
// gain exceeds its cost, condition (T). Of those, the one of the largest advantage per
// expected step is chosen (Smith 1956); if there are none, the greedy option. Gain and
// cost hold the horizon already, and no bound is used.
var RuleGain Rule = ruleGain{}

type ruleGain struct{}

func (ruleGain) String() string { return "gain" }

func (ruleGain) Doc() string {
	return "for pairs: the gain of trying a pair with its cost; of the pairs that pay, that of the largest advantage per step is chosen"
}

func (ruleGain) Bounds() []bandit.IndexKind { return nil }

func (ruleGain) Begin(c *Comparison) { c.exact = true }

func (ruleGain) Compare(c *Comparison, x int) ComparisonResult {
	p := c.Pairs[x-len(c.Arms)]
	return ComparisonResult{Option: x, Advantage: p.Advantage(), Delta: p.Gain, P: 1}
}

// Best implements chooser: a pair that pays comes before one that does not, and then
// the larger rate before the smaller.
func (r ruleGain) Best(c *Comparison) ComparisonResult {
	best := 0
	for i, p := range c.Pairs {
		if b := c.Pairs[best]; p.Advantage() > 0 && b.Advantage() <= 0 || (p.Advantage() > 0) == (b.Advantage() > 0) && p.Rate() > b.Rate() {
			best = i
		}
	}
	return r.Compare(c, len(c.Arms)+best)
}

package options

import (
	"cmp"
	"slices"

	"github.com/rlrun/rlrun/bandit"
)

// RuleIndex compares the indices of all options, the greedy one's among them
// (docs/theory.md §1.9). It respects that the greedy value is uncertain, but not that
// values go together.
var RuleIndex = &Rule{
	Name:    "index",
	Doc:     "by index; the option of the largest index is chosen",
	Bounds:  everyBound,
	Horizon: true,
	begin: func(c *Comparison) {
		if c.table == nil {
			c.table = bandit.NewIndexTable(c.Config.Bound, 1, c.members)
		}
		c.table.Reset(c.Share)
		c.tableShare = c.Share
		c.index = c.table.Index(c.population(&c.Problem, c.Greedy), c.Config.LowerBound)
		c.exact = true
	},
	compare: func(c *Comparison, x int) ComparisonResult {
		r := ComparisonResult{Option: x}
		if c.Arms[x].Class == Uninformed {
			r.Advantage = c.uninformedIndex(x) - c.index
			return r
		}
		if c.Share != c.tableShare { // x is held for steps of its own
			c.tableShare = c.Share
			c.table.Reset(c.Share)
		}
		b := c.population(&c.Problem, x)
		r.Advantage = c.table.Index(b, c.Config.LowerBound) - c.index
		r.Delta, r.P, _ = c.terms(b, c.index)
		return r
	},
}

// uninformedIndex is the known value λ against which an uninformed option breaks
// even. (B) with λ for v_k(y), (1−ρ)ζ E(v*_k−λ)⁺ = ρ(λ−e) for V, gives, just as in
// docs/theory.md §1.9,
//
//	λ = max_m (ρe + w_m x)/(ρ + w_m),  w_m = (1−ρ)ζm/K,
//
// where x is the mean of the m largest v*_k for V, the m-th largest for the
// others; and at least e.
func (c *Comparison) uninformedIndex(x int) float64 {
	e := mean(c.row(x))
	for k, v := range c.Optimal {
		c.leads[k] = lead{lead: v}
	}
	slices.SortFunc(c.leads, func(a, b lead) int { return cmp.Compare(b.lead, a.lead) })
	best, sum := e, 0.0
	for m, l := range c.leads {
		n := float64(m + 1)
		sum += l.lead
		v := l.lead
		if c.Config.Bound == bandit.V {
			v = sum / n
		}
		w := (1 - c.Share) * c.Arms[x].RevealProbability * n / float64(len(c.leads))
		if w > 0 {
			best = max(best, (c.Share*e+w*v)/(c.Share+w))
		}
	}
	return best
}

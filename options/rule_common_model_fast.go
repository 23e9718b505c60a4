package options

import (
	"math"

	"github.com/rlrun/rlrun/bandit"
)

// sorted is sortedPlain. It inserts up to 32 leads from both ends, which is faster
// than sorting.
func (c *Comparison) sorted(values []float64) []lead {
	y := c.row(c.Greedy)
	if len(y) > 32 {
		return c.sortedPlain(values)
	}
	values, leads, bound := values[:len(y)], c.leads[:len(y)], c.Config.LowerBound
	above, below := 0, len(leads)
	for k, v := range y {
		l := lead{values[k] - v, v - bound}
		if l.lead > 0 {
			j := above
			for ; j > 0 && leads[j-1].lead < l.lead; j-- {
				leads[j] = leads[j-1]
			}
			leads[j] = l
			above++
			continue
		}
		j := below
		for ; j < len(leads) && leads[j].lead >= l.lead; j++ {
			leads[j-1] = leads[j]
		}
		leads[j-1] = l
		below--
	}
	return leads
}

// ceiling bounds the advantage of option x from above without sorting its leads. By
// Markov's inequality sup δp is at most the mean of D_k⁺. If the supremum is
// attained, at least the models with D_k ≤ 0 cost something. The result is +Inf where
// there is no such bound.
func (c *Comparison) ceiling(x int) float64 {
	if c.Arms[x].Class == Uninformed {
		return math.Inf(1)
	}
	y, row := c.row(c.Greedy), c.row(x)
	row, bound := row[:len(y)], c.Config.LowerBound
	positive, sum, cost := 0.0, 0.0, 0.0
	for k, v := range y {
		d, above := row[k]-v, v-bound
		sum += d
		if d > 0 {
			positive += d
			if above >= 0 {
				continue
			}
		}
		cost += above
	}
	most := positive - c.Share*cost
	if c.Config.Bound != bandit.U {
		most = (1-c.Share)*positive + c.Share*sum
	}
	size := c.size + 2*positive - sum            // with Σ|D_k|
	return (most + 1e-12*size) / float64(len(y)) // the last term covers rounding
}

// bestCommonModel compares the option of the largest ceiling first, and
// then only options whose ceiling is not below the best advantage.
func bestCommonModel(c *Comparison) ComparisonResult {
	ceilings, promising := c.ceilings[:0], -1
	for x := range c.Arms {
		most := math.Inf(-1) // the greedy option is no choice
		if x != c.Greedy {
			most = c.ceiling(x)
			if promising < 0 || most > ceilings[promising] {
				promising = x
			}
		}
		ceilings = append(ceilings, most)
	}
	c.ceilings = ceilings
	best := compareCommonModel(c, promising)
	for x, most := range ceilings {
		if x == promising || most < best.Advantage {
			continue
		}
		if r := compareCommonModel(c, x); r.Advantage > best.Advantage || r.Advantage == best.Advantage && x < best.Option {
			best = r
		}
	}
	return best
}

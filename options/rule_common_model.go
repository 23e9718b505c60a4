package options

import (
	"cmp"
	"math"
	"slices"

	"github.com/rlrun/rlrun/bandit"
)

// RuleCommonModel compares each option with the greedy one model by model: a model in
// which one is good is often also good for the other. It is (A) of docs/theory.md §3.2
// for the bound U. With D_k = v_k(x) − v_k(y) and p = #{D_k ≥ δ}/K it is
//
//	U:  sup δp − ρ·mean((v_k(y)−b)·1{D_k < δ})
//	U⁺: (1−ρ)ζ sup δp − ρ(v̄(y)−v̄(x))
//	V:  (1−ρ)ζ mean D_k⁺ − ρ(v̄(y)−v̄(x))
var RuleCommonModel = &Rule{
	Name:    "common-model",
	Doc:     "with the greedy option, model by model",
	Bounds:  everyBound,
	Horizon: true,
	begin: func(c *Comparison) {
		y, bound := c.row(c.Greedy), c.Config.LowerBound
		sum, size := 0.0, 0.0
		for _, v := range y {
			sum += v
			size += math.Abs(v - bound)
		}
		c.mean, c.size = sum/float64(len(y)), size
	},
	compare: compareCommonModel,
	best:    bestCommonModel,
}

func compareCommonModel(c *Comparison, x int) ComparisonResult {
	if c.Arms[x].Class == Uninformed {
		return c.uninformed(x)
	}
	leads := c.sorted(c.row(x))
	if c.Config.Bound != bandit.U {
		gain, gap, r := promise(leads, c.Config.Bound)
		r.Option, r.Advantage = x, (1-c.Share)*(1-c.Doubt)*gain-c.Share*gap
		return r
	}
	k := len(leads)
	short, best := 0.0, 0.0
	r := ComparisonResult{Option: x}
	for m := k - 1; m >= 0; m-- { // δ = D of the m+1 best; short is the cost of the others
		l := leads[m]
		if l.lead > 0 && (m+1 == k || leads[m+1].lead < l.lead) {
			n := float64(m + 1)
			if v := l.lead*n - c.Share*short; r.P == 0 || v >= best {
				best, r.Delta, r.P = v, l.lead, n/float64(k)
			}
		}
		short += l.cost
	}
	if v := -c.Share * short; r.P == 0 || v > best { // δ beyond all leads
		best, r.Delta, r.P = v, 0, 0
	}
	r.Advantage = best / float64(k)
	return r
}

// lead is by how much an option is better in a model, and what the greedy one is
// above the lower bound there.
type lead struct{ lead, cost float64 }

// sortedPlain returns the leads of values over those of the greedy option, the
// largest first; of equal ones the first.
func (c *Comparison) sortedPlain(values []float64) []lead {
	leads := c.leads[:0]
	for k, v := range c.row(c.Greedy) {
		leads = append(leads, lead{values[k] - v, v - c.Config.LowerBound})
	}
	slices.SortStableFunc(leads, func(a, b lead) int { return cmp.Compare(b.lead, a.lead) })
	return leads
}

// promise returns, of leads in descending order, sup δp or for V their mean
// positive part, minus their mean, and the δ and p of sup δp.
func promise(leads []lead, bound bandit.IndexKind) (gain, gap float64, at ComparisonResult) {
	k := float64(len(leads))
	product, positive, sum := 0.0, 0.0, 0.0
	for m, l := range leads {
		sum += l.lead
		if l.lead <= 0 {
			continue
		}
		positive += l.lead
		n := float64(m + 1)
		if v := l.lead * n; v > product {
			product, at.Delta, at.P = v, l.lead, n/k
		}
	}
	if bound == bandit.V {
		return positive / k, -sum / k, at
	}
	return product / k, -sum / k, at
}

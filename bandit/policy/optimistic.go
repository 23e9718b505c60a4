package policy

import (
	"cmp"
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/bandit"
)

// Optimistic is Algorithm 1 of the paper (Dimitrakakis 2006; docs/theory.md §1.1). It explores arm i
// instead of the greedy arm j if the advantage of exploring is positive for some δ > 0. In place of
// the paper's bound U the advantage may be that of U⁺ or V (docs/theory.md §1.8). With
// p = P(q_i ≥ q̄_j+δ), per unit of the horizon's weight G,
//
//	U:  sup δp − (1−p)ρ(q̄_j−b)
//	U⁺: (1−ρ) sup δp − ρ(q̄_j−q̄_i)
//	V:  (1−ρ) E(q_i−q̄_j)⁺ − ρ(q̄_j−q̄_i)
//
// Of several such arms it selects the one with the largest advantage or, with order gamma, the one
// with the smallest γ*, that is the largest φ*. These orders differ.
type Optimistic struct {
	Horizon
	Hold       *int     `json:"hold,omitempty" jsonschema:"minimum=1,maximum=1000000000000,default=1" jsonschema_description:"T, the number of pulls of one exploration; default of the paper."`
	LowerBound *float64 `json:"lower_bound,omitempty" when:"bound=U" jsonschema_description:"b, a lower bound on mean rewards. Default: the smallest reward of the task, as in the paper, where it is 0."`

	Bound   string `json:"bound,omitempty" jsonschema:"enum=U,enum=U+,enum=V,default=U" jsonschema_description:"The bound on what exploring gains; default of the paper."`
	Order   string `json:"order,omitempty" when:"bound=U and compare=mean" jsonschema:"enum=advantage,enum=gamma,default=advantage" jsonschema_description:"Which arm is taken if several are worth exploring: the one with the largest advantage sup U, or with the smallest gamma*. The paper has two arms; the default is a choice of ours."`
	Compare string `json:"compare,omitempty" jsonschema:"enum=mean,enum=pairs,enum=all-pairs,default=mean" jsonschema_description:"How P(q_i >= q_j + delta) compares the population of arm i with arm j: with the mean of j, with the members of j one to one, or with all pairs of members. Default: the mean, which the paper's lemma needs (docs/theory.md 1.4)."`
}

func (p Optimistic) build(t *setting) (maker, error) {
	bound, c, low, err := t.threshold(p.Bound, p.Horizon, *p.Hold, p.LowerBound)
	return func(b beliefs) Policy {
		if p.Compare != withMean {
			return newOptimisticPairs(b, c, bound, low, p.Compare)
		}
		return newOptimistic(b, c, bound, low, p.Order == "gamma")
	}, cmp.Or(err, t.onPopulations("compare", p.Compare, withMean))
}

// optimistic compares with the mean. Each advantage is positive exactly if the index λ_i of its kind
// (docs/theory.md §1.9) exceeds q̄_j, and at most λ_i − q̄_j. So arms are visited in descending order
// of λ_i. It falls as ρ grows, so that while a finite horizon runs down an old one remains a bound.
type optimistic struct {
	timed
	kind    bandit.IndexKind
	low     float64 // b
	byGamma bool
	bounds  ranking // by λ_i, but for the greedy arm's, which may be old
	greedy  int
	table   *bandit.IndexTable // of populations
	age     int                // rewards since the bounds were all computed
}

func newOptimistic(b beliefs, c clock, kind bandit.IndexKind, low float64, byGamma bool) *optimistic {
	o := &optimistic{timed: timed{newRanked(b), c}, kind: kind, low: low, byGamma: byGamma}
	if b.populations != nil {
		o.table = bandit.NewIndexTable(kind, c.share, b.populations[0].Len())
	}
	o.bounds = newRanking(b.len(), o.bound)
	o.greedy = o.means.first()
	return o
}

func (o *optimistic) bound(arm int) float64 {
	if o.table != nil {
		return o.table.Index(&o.populations[arm], o.low)
	}
	return bandit.Index(o.kind, o.learners[arm], o.share, o.low)
}

func (o *optimistic) SelectArm(*rand.Rand) int {
	top := o.means.entries[0]
	size := math.Abs(top.key) + math.Abs(o.bounds.entries[0].key)
	margin := o.margin(size)
	// Advantages that vanish come out as rounding errors: these exploit.
	best, phi, selected := 1e-14*size, 0.0, top.arm
	for _, e := range o.bounds.entries {
		if e.key-top.key < best-margin {
			break
		}
		if e.arm == top.arm {
			continue
		}
		if o.byGamma {
			t := bandit.Threshold(o.learners[e.arm], bandit.Comparison{Known: top.key, LowerBound: o.low, Hold: o.hold})
			if t.Explore(o.share) && (t.PhiStar > phi || selected == top.arm || t.PhiStar == phi && e.arm < selected) {
				phi, selected = t.PhiStar, e.arm
			}
			continue
		}
		a := bandit.BestAdvantage(o.kind, o.learners[e.arm], top.key, o.low, o.share)
		if a > best || a == best && selected != top.arm && e.arm < selected {
			best, selected = a, e.arm
		}
	}
	return int(selected)
}

// margin allows for the error of indices of the given size.
func (b *beliefs) margin(size float64) float64 {
	if b.populations != nil {
		return 1e-12 * size
	}
	return 1e-8 * size // others are found to relative 1e-9
}

func (o *optimistic) Update(arm int, reward float64, rng *rand.Rand) {
	o.tick()
	o.ranked.Update(arm, reward, rng)
	top := o.means.first()
	if o.pass != nil {
		o.greedy = top
		o.bounds.rebuild(o.bound)
		return
	}
	if o.finite {
		if o.table != nil {
			o.table.Reset(o.share)
		}
		if o.age++; o.age >= max(64, o.len()) {
			o.age, o.greedy = 0, top
			o.bounds.rebuild(o.bound)
			return
		}
	}
	if o.greedy != top {
		o.bounds.set(o.greedy, o.bound(o.greedy))
		o.greedy = top
	}
	if arm != top {
		o.bounds.set(arm, o.bound(arm))
	}
}

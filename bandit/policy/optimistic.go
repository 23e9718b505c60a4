package policy

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/bandit"
)

// optimistic is Algorithm 1 of the paper, for any belief. It explores arm i
// instead of the greedy arm j if the advantage of exploring is positive for
// some δ > 0. Of several such arms it selects the one with the largest
// advantage or, with byGamma, the one with the smallest γ*, that is the largest
// φ*; these orders differ. In place of the paper's bound U the advantage may be
// that of U⁺ or V (docs/theory.md §1.8). With p = P(q_i ≥ q̄_j+δ), per unit of
// G,
//
//	U:  sup δp − (1−p)ρ(q̄_j−b)
//	U⁺: (1−ρ) sup δp − ρ(q̄_j−q̄_i)
//	V:  (1−ρ) E(q_i−q̄_j)⁺ − ρ(q̄_j−q̄_i)
//
// Each is positive exactly if the index λ_i of its kind exceeds q̄_j, and at most
// λ_i − q̄_j. So arms are visited in descending order of λ_i. It falls as ρ
// grows, so that while a finite horizon runs down an old one remains a bound.
type optimistic struct {
	ranked
	clock
	kind    bandit.IndexKind
	low     float64 // b
	byGamma bool
	bounds  ranking // by λ_i, but for the greedy arm's, which may be old
	greedy  int
	table   *bandit.IndexTable // of populations
	age     int                // rewards since the bounds were all computed
}

func newOptimistic(b beliefs, c clock, kind bandit.IndexKind, low float64, byGamma bool) *optimistic {
	o := &optimistic{ranked: newRanked(b), clock: c, kind: kind, low: low, byGamma: byGamma}
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
		a := o.advantage(int(e.arm), top.key)
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

// advantage returns the advantage of an arm over the greedy one, whose mean is
// q.
func (o *optimistic) advantage(arm int, q float64) float64 {
	b := o.learners[arm]
	if o.kind == bandit.U {
		// At ρ = 1 the index with lower bound y is y + sup (x−y)P(q_i ≥ x).
		cost := o.share * (q - o.low)
		y := q - cost
		return bandit.Index(bandit.U, b, 1, y) - y - cost
	}
	gap := o.share * (q - b.Mean())
	if o.kind == bandit.UPlus {
		return (1-o.share)*(bandit.Index(bandit.U, b, 1, q)-q) - gap
	}
	return (1-o.share)*b.Gain(q) - gap
}

func (o *optimistic) Update(arm int, reward float64, rng *rand.Rand) {
	o.tick()
	o.ranked.Update(arm, reward, rng)
	top := o.means.first()
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

var optimisticKind = kind{"optimistic", boundedHorizon + " bound order compare", anyBelief, buildOptimistic}

func buildOptimistic(d *builder) (maker, error) {
	kind, c, low, err := d.bounded(bandit.U)
	if err != nil {
		return nil, err
	}
	compare, err := d.comparison()
	if err != nil {
		return nil, err
	}
	byGamma := d.Order == "gamma"
	if byGamma && (kind != bandit.U || compare != withMean) {
		return nil, errors.New("order gamma needs bound U and compare mean")
	}
	return func(b beliefs, _ []bandit.Beta) Policy {
		if compare != withMean {
			return newOptimisticPairs(b, c, kind, low, compare)
		}
		return newOptimistic(b, c, kind, low, byGamma)
	}, nil
}

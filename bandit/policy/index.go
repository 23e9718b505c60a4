package policy

import (
	"math/rand/v2"

	"github.com/rlrun/rlrun/bandit"
)

// Index selects argmax_i λ_i, the index of the paper's bound U or of a sharper one. It takes into
// account that the greedy arm is uncertain, too, and Algorithm 1 does not (docs/theory.md §1.9):
//
//	λ^U = b + max_x (x−b) P(q ≥ x) / (ρ + (1−ρ) P(q ≥ x))
//	λ⁺: λ = q̄ + ((1−ρ)/ρ) max_x (x−λ) P(q ≥ x)
//	λ^V: λ = q̄ + ((1−ρ)/ρ) E(q−λ)⁺
type Index struct {
	Horizon
	Hold       *int     `json:"hold,omitempty" jsonschema:"minimum=1,maximum=1000000000000,default=1" jsonschema_description:"T, the number of pulls of one exploration; default of the paper."`
	LowerBound *float64 `json:"lower_bound,omitempty" when:"bound=U" jsonschema_description:"b, a lower bound on mean rewards. Default: the smallest reward of the task, as in the paper, where it is 0."`

	Bound string `json:"bound,omitempty" jsonschema:"enum=U,enum=U+,enum=V,default=V" jsonschema_description:"The bound on what exploring gains. The default is a choice of ours."`
}

func (p Index) build(t *setting) (maker, error) {
	bound, c, low, err := t.threshold(p.Bound, p.Horizon, *p.Hold, p.LowerBound)
	return func(b beliefs) Policy { return newIndex(b, c, bound, low) }, err
}

// index computes an index of its arm and of ρ. With a finite horizon ρ grows with time and all
// indices fall, so that an old one is a bound: only the largest needs to be of today.
type index struct {
	beliefs
	clock
	kind    bandit.IndexKind
	low     float64 // b
	indices ranking
	dates   []int // of the indices, in rewards
	now     int
	table   *bandit.IndexTable // of populations
}

func newIndex(b beliefs, c clock, kind bandit.IndexKind, low float64) *index {
	x := &index{beliefs: b, clock: c, kind: kind, low: low, dates: make([]int, b.len())}
	if b.populations != nil {
		x.table = bandit.NewIndexTable(kind, c.share, b.populations[0].Len())
	}
	x.indices = newRanking(b.len(), x.index)
	return x
}

func (x *index) index(arm int) float64 {
	if x.table != nil {
		return x.table.Index(&x.populations[arm], x.low)
	}
	return bandit.Index(x.kind, x.learners[arm], x.share, x.low)
}

func (x *index) set(arm int) {
	x.indices.set(arm, x.index(arm))
	x.dates[arm] = x.now
}

func (x *index) SelectArm(*rand.Rand) int {
	for x.finite && x.dates[x.indices.first()] != x.now {
		x.set(x.indices.first())
	}
	return x.indices.first()
}

func (x *index) Update(arm int, reward float64, rng *rand.Rand) {
	x.now++
	x.tick()
	if x.finite && x.table != nil {
		x.table.Reset(x.share)
	}
	x.update(arm, reward, rng)
	if x.pass != nil {
		for i := range x.dates {
			x.set(i)
		}
		return
	}
	x.set(arm)
}

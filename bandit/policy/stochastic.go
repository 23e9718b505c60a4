package policy

import (
	"cmp"
	"math/rand/v2"
)

// OptimisticStochastic is Algorithm 2 of the paper (Dimitrakakis 2006; docs/theory.md §1.1). Let j be
// the greedy arm and c = q̄_j − b. For every other arm i a value x is drawn from its belief. With
// δ = x − q̄_j and p = P(q_i ≥ x), its score is the advantage of exploring it,
//
//	A_i = δp − (1−p)ρc = (u_i − u_j)/G
//
// The arm with the largest positive score is selected, the greedy one if there is none.
type OptimisticStochastic struct {
	Horizon
	Hold       *int     `json:"hold,omitempty" jsonschema:"minimum=1,maximum=1000000000000,default=1" jsonschema_description:"T, the number of pulls of one exploration; default of the paper."`
	LowerBound *float64 `json:"lower_bound,omitempty" jsonschema_description:"b, a lower bound on mean rewards. Default: the smallest reward of the task, as in the paper, where it is 0."`

	Compare string `json:"compare,omitempty" jsonschema:"enum=mean,enum=pairs,enum=all-pairs,default=mean" jsonschema_description:"How P(q_i >= q_j + delta) compares the population of arm i with arm j: with the mean of j, with the members of j one to one, or with all pairs of members. Default: the mean, which the paper's lemma needs (docs/theory.md 1.4)."`
	Draw    string `json:"draw,omitempty" jsonschema:"enum=per-arm,enum=common,default=per-arm" jsonschema_description:"Whether each arm draws its own population member, or one number k is drawn for all arms. The paper leaves it open; the default is a choice of ours."`
	Choice  string `json:"choice,omitempty" jsonschema:"enum=argmax,enum=program,default=argmax" jsonschema_description:"The largest u_i, default of the paper, or the choice of a published program of its author, which by mistake mostly takes the first arm that passes."`
}

func (p OptimisticStochastic) build(t *setting) (maker, error) {
	_, c, low, err := t.threshold("U", p.Horizon, *p.Hold, p.LowerBound)
	common, program := p.Draw == "common", p.Choice == "program"
	return func(b beliefs) Policy {
		switch {
		case b.populations == nil:
			return &stochastic{timed{newRanked(b), c}, low}
		case p.Compare != withMean || program:
			return newStochasticPairs(b, c, low, common, p.Compare, program)
		}
		return newStochasticPopulation(b, c, low, common)
	}, cmp.Or(err, t.onPopulations("compare", p.Compare, withMean), t.onPopulations("draw", p.Draw, "per-arm"), t.onPopulations("choice", p.Choice, "argmax"))
}

// stochastic is the policy on any belief. It is the oracle of the fast one for populations in
// stochastic_fast.go.
type stochastic struct {
	timed
	low float64 // b
}

func (s *stochastic) SelectArm(rng *rand.Rand) int {
	top := s.means.entries[0]
	cost := s.share * (top.key - s.low)
	best, selected := 0.0, int(top.arm)
	for i, b := range s.learners {
		if i == int(top.arm) {
			continue
		}
		x := b.Sample(rng)
		delta := x - top.key
		if delta <= 0 && cost >= 0 {
			continue // the advantage cannot be positive
		}
		if a := advantage(delta, b.Exceed(x), cost); a > best {
			best, selected = a, i
		}
	}
	return selected
}

// advantage is δp − (1−p)ρc, given ρc.
func advantage(delta, p, cost float64) float64 { return delta*p - (1-p)*cost }

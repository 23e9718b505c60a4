package policy

import (
	"math/rand/v2"

	"github.com/rlrun/rlrun/bandit"
)

// Algorithm 2 of the paper, optimistic stochastic exploration. Let j be the
// greedy arm and c = q̄_j − b. For every other arm i a value x is drawn from
// its belief. With δ = x − q̄_j and p = P(q_i ≥ x), its score is the advantage
// of exploring it,
//
//	A_i = δp − (1−p)ρc = (u_i − u_j)/G
//
// (docs/theory.md §1.1). The arm with the largest positive score is selected,
// the greedy one if there is none.

// stochastic is Algorithm 2 for any belief. It is the oracle of the fast one for
// populations in stochastic_fast.go.
type stochastic struct {
	ranked
	clock
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

func (s *stochastic) Update(arm int, reward float64, rng *rand.Rand) {
	s.tick()
	s.ranked.Update(arm, reward, rng)
}

// advantage is δp − (1−p)ρc, given ρc.
func advantage(delta, p, cost float64) float64 { return delta*p - (1-p)*cost }

var stochasticKind = kind{"optimistic-stochastic", boundedHorizon + " compare draw choice", anyBelief, buildStochastic}

func buildStochastic(d *builder) (maker, error) {
	c, low, err := d.threshold()
	if err != nil {
		return nil, err
	}
	compare, err := d.comparison()
	if err != nil {
		return nil, err
	}
	common, err := d.common()
	if err != nil {
		return nil, err
	}
	program := d.Choice == "program"
	if program {
		err = d.onPopulations("choice", d.Choice)
	}
	return func(b beliefs, _ []bandit.Beta) Policy {
		switch {
		case b.populations == nil:
			return &stochastic{newRanked(b), c, low}
		case compare != withMean || program:
			return newStochasticPairs(b, c, low, common, compare, program)
		}
		return newStochasticPopulation(b, c, low, common)
	}, err
}

package policy

import (
	"math"
	"math/rand/v2"
)

// Thompson selects argmax_i x_i with x_i drawn from the belief about arm i, so each arm with the
// probability that it is the best (Thompson 1933).
type Thompson struct {
	Draw string `json:"draw,omitempty" jsonschema:"enum=per-arm,enum=common,default=per-arm" jsonschema_description:"Whether each arm draws its own population member, or one number k is drawn for all arms. The paper leaves it open; the default is a choice of ours."`
}

func (p Thompson) build(t *setting) (maker, error) {
	return func(b beliefs) Policy {
		switch {
		case b.populations != nil:
			return newThompsonPopulation(b, p.Draw == "common")
		case b.betas != nil:
			return newThompsonBeta(b, b.betas)
		}
		return &thompson{b}
	}, t.onPopulations("draw", p.Draw, "per-arm")
}

// thompson is the policy on any belief. It is the oracle of the fast ones in thompson_fast.go.
type thompson struct{ beliefs }

func (t *thompson) SelectArm(rng *rand.Rand) int {
	best, selected := math.Inf(-1), 0
	for i, b := range t.learners {
		if x := b.Sample(rng); x > best {
			best, selected = x, i
		}
	}
	return selected
}

func (t *thompson) Update(arm int, reward float64, rng *rand.Rand) { t.update(arm, reward, rng) }

package policy

import (
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/bandit"
)

// thompson is Thompson sampling for any belief: select the arm with the largest
// of one sample an arm. It is the oracle of the fast ones in thompson_fast.go.
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

var thompsonKind = kind{"thompson", "draw", anyBelief, buildThompson}

func buildThompson(d *builder) (maker, error) {
	common, err := d.common()
	return func(b beliefs, betas []bandit.Beta) Policy {
		switch {
		case b.populations != nil:
			return newThompsonPopulation(b, common)
		case betas != nil:
			return newThompsonBeta(b, betas)
		}
		return &thompson{b}
	}, err
}

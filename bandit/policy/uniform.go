package policy

import "math/rand/v2"

// Uniform selects each of the n arms with probability 1/n and learns nothing.
type Uniform struct{}

func (Uniform) build(t *setting) (maker, error) {
	return func(beliefs) Policy { return uniform{t.Arms} }, nil
}

type uniform struct{ n int }

func (u uniform) SelectArm(rng *rand.Rand) int { return rng.IntN(u.n) }

func (uniform) Update(int, float64, *rand.Rand) {}

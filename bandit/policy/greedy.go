package policy

import "math/rand/v2"

// Greedy selects argmax_i q̄_i, the arm with the largest mean (Sutton & Barto 2018, eq. 2.2).
type Greedy struct{}

func (Greedy) build(*setting) (maker, error) {
	return func(b beliefs) Policy { return &greedy{newRanked(b)} }, nil
}

type greedy struct{ ranked }

func (g *greedy) SelectArm(*rand.Rand) int { return g.means.first() }

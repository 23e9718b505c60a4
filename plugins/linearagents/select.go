package linearagents

import (
	"math/rand/v2"

	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/plugins/internal/argmax"
)

// selector draws a lane's actions.
type selector struct {
	pcg rand.PCG
	rng *rand.Rand // over pcg
}

// init prepares a selector at the address that it keeps.
func (x *selector) init() { x.rng = rand.New(&x.pcg) }

func (x *selector) start(s uint64) { x.pcg.Seed(s, uint64(seed.Exploration)) }

// epsilonGreedy returns one of the actions of largest value, which have equal
// chances, or with probability epsilon any action.
func (x *selector) epsilonGreedy(q []float64, epsilon float64) int {
	if epsilon > 0 && x.rng.Float64() < epsilon {
		return argmax.Uniform(q, x.rng)
	}
	return argmax.Any(q, x.rng)
}

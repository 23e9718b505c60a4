package linearagents

import (
	"math/rand/v2"

	"github.com/rlrun/rlrun/framework/seed"
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
		return x.rng.IntN(len(q))
	}
	best, a, ties := q[0], 0, 1
	for b, v := range q[1:] {
		switch {
		case v > best:
			best, a, ties = v, b+1, 1
		case v == best:
			ties++
		}
	}
	if ties > 1 {
		for k := x.rng.IntN(ties); k > 0; {
			if a++; q[a] == best {
				k--
			}
		}
	}
	return a
}

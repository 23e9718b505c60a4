package families

import (
	"math/rand/v2"

	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// lock is a combination lock: one action in every state leads on, and fails
// sometimes; all others lead back to the start and pay up to 0.02. The right
// action in the last state pays 1.
func lock(rng *rand.Rand) (*catalog.Task, error) {
	n, actions, works := between(rng, 6, 12), between(rng, 3, 4), uniform(rng, 0.85, 0.98)
	digit := make([]int, n)
	for s := range digit {
		digit[s] = rng.IntN(actions)
	}
	d := mdp.Definition{Name: "Lock", States: n, Actions: actions, Initial: from(0)}
	return generate(d, func(s, a int, row *mdp.Row) {
		switch {
		case a != digit[s]:
			row.Add(0, 1)
			row.Reward(uniform(rng, 0, 0.02))
		case s == n-1:
			row.Add(0, 1)
			row.Reward(1)
		default:
			row.Add(s+1, works)
			row.Add(0, 1-works)
		}
	})
}

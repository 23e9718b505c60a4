package families

import (
	"math/rand/v2"

	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// rings are two rounds from state 0 (after the double loop of Watkins 1989). The
// short one pays 1 whatever is done on the way. The long one pays 1.5 to 3 times
// as much per step, at its end, and the wrong action anywhere on it leads back to
// state 0 for nothing.
func rings(rng *rand.Rand) (*catalog.Task, error) {
	short, long := between(rng, 3, 5), between(rng, 15, 30)
	pays := uniform(rng, 1.5, 3) * float64(long) / float64(short)
	d := mdp.Definition{Name: "Rings", States: short + long - 1, Actions: 2, Initial: from(0)}
	return generate(d, func(s, a int, row *mdp.Row) {
		switch {
		case s == 0 && a == 0:
			row.Add(1, 1)
		case s == 0:
			row.Add(short, 1)
		case s == short-1: // the last state of the short round
			row.Add(0, 1)
			row.Reward(1)
		case s < short:
			row.Add(s+1, 1)
		case a == 0:
			row.Add(0, 1)
		case s == short+long-2: // the last state of the long round
			row.Add(0, 1)
			row.Reward(pays)
		default:
			row.Add(s+1, 1)
		}
	})
}

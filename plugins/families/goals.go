package families

import (
	"math/rand/v2"

	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// goals is a slippery corridor between two goals. The near one, at the left end,
// pays 0.2 to 0.4 per step, the far one 1, and every other state costs 0.02.
func goals(rng *rand.Rand) (*catalog.Task, error) {
	n, slip, near := between(rng, 10, 16), uniform(rng, 0.1, 0.3), uniform(rng, 0.2, 0.4)
	d := mdp.Definition{Name: "Goals", States: n, Actions: 2, Initial: from(between(rng, 2, 4))}
	return generate(d, func(s, a int, row *mdp.Row) {
		step := 2*a - 1
		row.Add(min(max(s+step, 0), n-1), 1-slip)
		row.Add(min(max(s-step, 0), n-1), slip)
		switch s {
		case 0:
			row.Reward(near)
		case n - 1:
			row.Reward(1)
		default:
			row.Reward(-0.02)
		}
	}, "left", "right")
}

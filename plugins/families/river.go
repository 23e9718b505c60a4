package families

import (
	"math/rand/v2"

	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// river is a chain after RiverSwim (Strehl & Littman 2004). Moving left always
// succeeds and pays a little at the left end. Moving right succeeds rarely, drifts
// back sometimes, and pays 1 at the right end.
func river(rng *rand.Rand) (*catalog.Task, error) {
	n, up, back, small := between(rng, 6, 12), uniform(rng, 0.3, 0.4), uniform(rng, 0.03, 0.08), uniform(rng, 0.005, 0.02)
	d := mdp.Definition{Name: "River", States: n, Actions: 2, Initial: from(0)}
	return generate(d, func(s, a int, row *mdp.Row) {
		switch {
		case a == 0:
			row.Add(max(s-1, 0), 1)
			if s == 0 {
				row.Reward(small)
			}
		default:
			row.Add(min(s+1, n-1), up)
			row.Add(max(s-1, 0), back)
			row.Add(s, 1-up-back)
			if s == n-1 {
				row.Reward(1)
			}
		}
	}, "left", "right")
}

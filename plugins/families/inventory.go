package families

import (
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// inventory is the control of a stock (Puterman 1994, §3.2): order up to four
// items, which arrive at once, then meet a Poisson demand. Selling an item pays
// 1.8; holding one costs 0.08, ordering one 0.4, and any order 0.8 more. Demand
// that cannot be met is lost.
func inventory(rng *rand.Rand) (*catalog.Task, error) {
	const most = 4
	room, demand := between(rng, 8, 14), uniform(rng, 1.5, 2.5)
	d := mdp.Definition{Name: "Inventory", States: room + 1, Actions: most + 1, Initial: from(0)}
	return generate(d, func(s, a int, row *mdp.Row) {
		stock := min(s+a, room)
		row.Reward(-0.08*float64(stock) - 0.4*float64(stock-s))
		if a > 0 {
			row.Reward(-0.8)
		}
		p, rest := math.Exp(-demand), 1.0
		for sold := range stock {
			row.AddRewarded(stock-sold, p, 1.8*float64(sold))
			rest -= p
			p *= demand / float64(sold+1)
		}
		row.AddRewarded(0, rest, 1.8*float64(stock))
	})
}

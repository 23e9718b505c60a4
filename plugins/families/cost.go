package families

import (
	"math/rand/v2"

	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// cost is a stochastic shortest path (Bertsekas & Tsitsiklis 1991): every step
// costs 0.5 to 1.5 until the end is reached. One action of a state leads forward,
// two lead somewhere behind or just ahead, and all slip to a random place with
// probability 0.25. The best policy per step differs from the best policy per
// episode: a cheap place to wait costs least per step.
func cost(rng *rand.Rand) (*catalog.Task, error) {
	const actions = 3
	end := between(rng, 12, 20)
	forward := make([]int, end)
	for s := range forward {
		forward[s] = rng.IntN(actions)
	}
	d := mdp.Definition{Name: "Cost", States: end + 1, Actions: actions, Initial: from(0), Terminal: []int{end}}
	return generate(d, func(s, a int, row *mdp.Row) {
		if s == end {
			return
		}
		next := rng.IntN(min(end, s+3) + 1)
		if a == forward[s] {
			next = min(end, s+between(rng, 1, 2))
		}
		row.Add(next, 0.75)
		row.Add(rng.IntN(end), 0.25)
		row.Reward(-uniform(rng, 0.5, 1.5))
	})
}

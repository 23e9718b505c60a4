package families

import (
	"math/rand/v2"

	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// pits is a slippery grid in episodes. Every step costs 0.02. Any action in the
// goal, in the corner opposite to the start, ends the episode with 1, and any in a
// pit with −1.
func pits(rng *rand.Rand) (*catalog.Task, error) {
	g := square{between(rng, 4, 7), uniform(rng, 0.05, 0.15)}
	end := g.n * g.n
	reward := map[int]float64{end - 1: 1}
	for number := between(rng, 2, g.n-1); len(reward) <= number; {
		s := rng.IntN(end)
		if far := s/g.n + s%g.n; far > 1 && far < 2*g.n-3 { // next to neither the start nor the goal
			reward[s] = -1
		}
	}
	d := mdp.Definition{Name: "Pits", States: end + 1, Actions: 4, Initial: from(0), Terminal: []int{end}}
	t, err := generate(d, func(s, a int, row *mdp.Row) {
		if r, ends := reward[s]; ends {
			row.AddRewarded(end, 1, r)
		} else if s < end {
			g.move(s, a, row)
			row.Reward(-0.02)
		}
	}, compass...)
	if err == nil {
		t.Layout = g.layout(end + 1)
	}
	return t, err
}

package families

import (
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// rare is a hall with rooms (after SixArms of Strehl & Littman 2004). The door of a
// room opens more rarely, and its reward is larger, from one room to the next. In a
// room one action pays and mostly stays; the others lead back to the hall.
func rare(rng *rand.Rand) (*catalog.Task, error) {
	rooms, growth, stay := between(rng, 4, 6), uniform(rng, 2, 3), uniform(rng, 0.95, 0.99)
	opens, pays, key := make([]float64, rooms), make([]float64, rooms), make([]int, rooms)
	for i := range rooms {
		opens[i] = 0.6 * math.Pow(uniform(rng, 0.4, 0.6), float64(i))
		pays[i] = 0.5 * math.Pow(growth, float64(i))
		key[i] = rng.IntN(rooms)
	}
	d := mdp.Definition{Name: "Rare", States: rooms + 1, Actions: rooms, Initial: from(0)}
	return generate(d, func(s, a int, row *mdp.Row) {
		switch {
		case s == 0:
			row.Add(1+a, opens[a])
			row.Add(0, 1-opens[a])
		case a == key[s-1]:
			row.Add(s, stay)
			row.Add(0, 1-stay)
			row.Reward(pays[s-1])
		default:
			row.Add(0, 1)
		}
	})
}

package families

import (
	"math/rand/v2"

	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// trapShort has one dangerous action a room, into a trap of 20 to 50 steps.
func trapShort(rng *rand.Rand) (*catalog.Task, error) {
	return trap(rng, between(rng, 5, 7), 3, 1/uniform(rng, 20, 50))
}

// trapLong has two dangerous actions a room, into a trap of 150 to 400 steps.
func trapLong(rng *rand.Rand) (*catalog.Task, error) {
	return trap(rng, between(rng, 6, 9), 4, 1/uniform(rng, 150, 400))
}

// trap is a round of rooms. One action of a room stays and pays 0.25, in the
// best room 0.7. One leads to the next room and pays 0.05. The others pay 0.2
// and lead into the trap with probability 0.3. The trap pays nothing and is
// left to the first room with probability leave a step.
func trap(rng *rand.Rand, rooms, actions int, leave float64) (*catalog.Task, error) {
	best := between(rng, 1, rooms-1)
	role := make([][]int, rooms)
	for s := range role {
		role[s] = rng.Perm(actions)
	}
	d := mdp.Definition{Name: "Trap", States: rooms + 1, Actions: actions, Initial: from(0)}
	return generate(d, func(s, a int, row *mdp.Row) {
		switch {
		case s == rooms:
			row.Add(0, leave)
			row.Add(rooms, 1-leave)
		case role[s][a] == 0:
			row.Add(s, 1)
			if s == best {
				row.Reward(0.7)
			} else {
				row.Reward(0.25)
			}
		case role[s][a] == 1:
			row.Add((s+1)%rooms, 1)
			row.Reward(0.05)
		default:
			row.Add(rooms, 0.3)
			row.Add(s, 0.7)
			row.Reward(0.2)
		}
	})
}

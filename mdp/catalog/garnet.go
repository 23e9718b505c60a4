package catalog

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/rlrun/rlrun/mdp"
)

// Garnet is a random model (Archibald, McKinnon & Thomas 1995; Bhatnagar et al.
// 2009). Every (s,a) has branching distinct successors, a uniformly random set,
// and a standard normal reward. The successors' probabilities are the gaps
// between branching−1 uniform cut points of [0,1]. The same arguments give the
// same model (math/rand/v2's PCG seeded with seed and 0).
func Garnet(states, actions, branching int, seed uint64) (*Task, error) {
	if states < 1 || actions < 1 || branching < 1 || branching > states {
		return nil, fmt.Errorf("no Garnet has %d states, %d actions and branching %d", states, actions, branching)
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	deck := make([]int, states)
	for i := range deck {
		deck[i] = i
	}
	cuts := make([]float64, branching+1)
	return task(mdp.Definition{Name: "Garnet", States: states, Actions: actions,
		Description: fmt.Sprintf("Garnet(%d,%d,%d), seed %d", states, actions, branching, seed)},
		func(_, _ int, row *mdp.Row) {
			cuts[0], cuts[branching] = 0, 1
			for k := 1; k < branching; k++ {
				cuts[k] = rng.Float64()
			}
			slices.Sort(cuts)
			for k := range branching { // the first cards of a shuffle
				j := k + rng.IntN(states-k)
				deck[k], deck[j] = deck[j], deck[k]
				row.Add(deck[k], cuts[k+1]-cuts[k])
			}
			row.Reward(rng.NormFloat64())
		})
}

package families

import (
	"math/rand/v2"

	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// garnetDense is a random model (Archibald, McKinnon & Thomas 1995) in which any
// action leads almost anywhere soon. Rewards are Bernoulli with means from
// Beta(1,2).
func garnetDense(rng *rand.Rand) (*catalog.Task, error) {
	states, actions := between(rng, 10, 20), between(rng, 3, 5)
	return random(rng, states, actions, 6, func(_, _ int, row *mdp.Row) {
		row.Reward(skewed(rng, 2))
		row.Noise.Bernoulli = true
	})
}

// garnetSparse is a random model in which places are far from each other, and only
// five pairs of state and action pay.
func garnetSparse(rng *rand.Rand) (*catalog.Task, error) {
	states, actions := between(rng, 25, 45), 3
	pays := map[int]float64{}
	for _, r := range []float64{1, 0.3, 0.1, 0.1, 0.05} {
		pays[rng.IntN(states*actions)] = r // a later one may replace an earlier one
	}
	return random(rng, states, actions, 2, func(s, a int, row *mdp.Row) { row.Reward(pays[s*actions+a]) })
}

// random draws a model whose rows have up to branching successors, with
// probabilities uniform over the simplex. So that every state can be reached, the
// first action may lead to the next state.
func random(rng *rand.Rand, states, actions, branching int, reward func(s, a int, row *mdp.Row)) (*catalog.Task, error) {
	d := mdp.Definition{Name: "Garnet", States: states, Actions: actions, Initial: from(0)}
	return generate(d, func(s, a int, row *mdp.Row) {
		for k, p := range simplex(rng, branching) {
			next := rng.IntN(states)
			if a == 0 && k == 0 {
				next = (s + 1) % states
			}
			row.Add(next, p)
		}
		reward(s, a, row)
	})
}

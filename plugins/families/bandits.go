package families

import (
	"math/rand/v2"

	"github.com/rlrun/rlrun/mdp/catalog"
)

// lowBandit is a Bernoulli bandit whose means are drawn from Beta(1,14): most are
// below 0.1, so that little is learned from a single pull.
func lowBandit(rng *rand.Rand) (*catalog.Task, error) {
	return arms(between(rng, 8, 16), func() float64 { return skewed(rng, 14) })
}

// manyArms is a Bernoulli bandit with many arms: a short run can try each of them
// only a few times.
func manyArms(rng *rand.Rand) (*catalog.Task, error) {
	return arms(between(rng, 30, 60), func() float64 { return uniform(rng, 0, 0.8) })
}

func arms(n int, draw func() float64) (*catalog.Task, error) {
	means := make([]float64, n)
	for a := range means {
		means[a] = draw()
	}
	return catalog.Bandit(means)
}

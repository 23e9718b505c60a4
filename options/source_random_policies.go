package options

import (
	"fmt"
	"math/rand/v2"

	"github.com/rlrun/rlrun/mdp"
)

// RandomPolicies are deterministic policies that are drawn at random, as many as there are actions and at most 8, each for a
// geometric number of steps, 10 in the mean. They are diverse: no two of them take the same action in a state.
var RandomPolicies = NamedSource{
	Name: "random-policies",
	Doc:  "random policies of which no two take the same action in a state, for 10 steps in the mean",
	Make: func(x *Experience) (list []DeclaredOption, err error) {
		rng := rand.New(rand.NewPCG(x.Seed, 0))
		for i := range min(x.Actions, 8) {
			list = append(list, x.everywhere(fmt.Sprintf("random policy %d", i), make(mdp.Deterministic, x.States)))
		}
		for s := range x.States {
			for i, a := range rng.Perm(x.Actions)[:len(list)] {
				list[i].Actions[s] = a
			}
		}
		return list, nil
	},
}

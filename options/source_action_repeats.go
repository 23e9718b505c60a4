package options

import (
	"fmt"
	"slices"

	"github.com/rlrun/rlrun/mdp"
)

// ActionRepeats are the actions, each repeated for a geometric number of steps, 10 in the mean: temporally extended
// ε-greedy (Dabney, Ostrovski & Barreto 2021) with durations of a light tail. Repeats has those of a heavy one.
var ActionRepeats = NamedSource{
	Name: "action-repeats",
	Doc:  "each action, repeated for a geometric number of steps, 10 in the mean",
	Make: func(x *Experience) (list []DeclaredOption, err error) {
		for a := range x.Actions {
			list = append(list, x.everywhere(fmt.Sprintf("repeat action %d", a), slices.Repeat(mdp.Deterministic{a}, x.States)))
		}
		return list, nil
	},
}

// everywhere is the option of following a policy for a geometric number of steps.
func (x *Experience) everywhere(name string, pi mdp.Deterministic) DeclaredOption {
	return DeclaredOption{Name: name, Initiation: slices.Repeat([]bool{true}, x.States), Actions: pi, End: slices.Repeat([]float64{0.1}, x.States)}
}

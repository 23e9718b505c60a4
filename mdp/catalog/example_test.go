package catalog_test

import (
	"fmt"

	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// RiverSwim of Strehl & Littman (2008), and what its best policy earns per step.
func ExampleRiverSwimStrehl() {
	task, err := catalog.RiverSwimStrehl(6)
	if err != nil {
		fmt.Println(err)
		return
	}
	solution, err := mdp.SolveAverage(task.Model, mdp.SolverConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(task.Model.NumStates(), "states,", task.Model.NumActions(), "actions")
	fmt.Printf("best: actions %v, reward per step %.4f\n", solution.Policy, solution.Gain[0])
	// Output:
	// 6 states, 2 actions
	// best: actions [1 1 1 1 1 1], reward per step 668.8073
}

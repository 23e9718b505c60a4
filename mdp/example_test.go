package mdp_test

import (
	"fmt"
	"strings"

	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// The best policy of RiverSwim swims right; after one stroke to the left it
// takes some steps until the state is distributed as if that had not happened.
func Example() {
	task, err := catalog.RiverSwim(6)
	if err != nil {
		fmt.Println(err)
		return
	}
	sol, err := mdp.SolveAverage(task.Model, mdp.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("gain %.6f, policy %v\n", sol.Gain[0], sol.Policy)
	mix, err := mdp.MixingTime(task.Model, sol.Policy, mdp.MixingOptions{Eta: 0.25})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("η = %.2f, ε = %.4f\n", mix.Eta, mix.Epsilon)
	for s, T := range mix.T {
		fmt.Printf("state %d: %d steps\n", s, T[0])
	}
	fmt.Printf("on average %.2f, at most %d\n", mix.MeanNonGreedy, mix.Max)
	// Output:
	// gain 0.428622, policy [1 1 1 1 1 1]
	// η = 0.25, ε = 0.0833
	// state 0: 2 steps
	// state 1: 7 steps
	// state 2: 10 steps
	// state 3: 8 steps
	// state 4: 5 steps
	// state 5: 2 steps
	// on average 3.98, at most 10
}

func ExampleParseModel() {
	_, err := mdp.ParseModel(strings.NewReader(`{
  "S": 2, "A": 1,
  "transitions": [[0,0,1,1.0],
                  [1,0,0,"0.5"], [1,0,1,0.5]]
}`))
	fmt.Println(err)
	// Output:
	// mdp: line 4, column 26: transitions[1]: want a number, got the string "0.5"
}

// A chain that alternates between two states never forgets which one it was in
// when; the reason names the states.
func ExampleMixingTime_periodic() {
	m, err := mdp.NewModel(mdp.Definition{States: 2, Actions: 2, Transitions: []mdp.Transition{
		{S: 0, A: 0, Next: 1, P: 1}, {S: 1, A: 0, Next: 0, P: 1}, // move
		{S: 0, A: 1, Next: 0, P: 1}, {S: 1, A: 1, Next: 1, P: 1}, // stay
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	mix, err := mdp.MixingTime(m, mdp.Constant(2, 0), mdp.MixingOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(mix.T[0][1] == mdp.Never, mix.Why)
	// Output:
	// true mdp: not aperiodic: taking action 1 in state 0 is never forgotten, it shifts the phase in the closed class {0, 1} of period 2
}

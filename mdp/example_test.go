package mdp_test

import (
	"fmt"
	"math/rand/v2"
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
	sol, err := mdp.SolveAverage(task.Model, mdp.SolverConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("gain %.6f, policy %v\n", sol.Gain[0], sol.Policy)
	mix, err := mdp.MixingTime(task.Model, sol.Policy, mdp.MixingConfig{Eta: 0.25})
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

// A machine runs, or is worn; repairing it costs.
func ExampleSolveDiscounted() {
	const running, worn = 0, 1
	const work, repair = 0, 1
	m, err := mdp.NewModel(mdp.Definition{
		States: 2, Actions: 2,
		Transitions: []mdp.Transition{
			{S: running, A: work, Next: running, P: 0.9},
			{S: running, A: work, Next: worn, P: 0.1},
			{S: running, A: repair, Next: running, P: 1},
			{S: worn, A: work, Next: worn, P: 1},
			{S: worn, A: repair, Next: running, P: 1},
		},
		Rewards: []mdp.Reward{
			{S: running, A: work, R: 1},
			{S: running, A: repair, R: -1},
			{S: worn, A: work, R: 0.4},
			{S: worn, A: repair, R: -1},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, gamma := range []float64{0.5, 0.95} {
		sol, err := mdp.SolveDiscounted(m, gamma, mdp.SolverConfig{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("γ = %.2f: policy %v, value %.3f, to 1e-9: %v\n", gamma, sol.Policy, sol.Value, sol.Bound < 1e-9)
	}
	// Output:
	// γ = 0.50: policy [0 0], value [1.891 0.800], to 1e-9: true
	// γ = 0.95: policy [0 1], value [16.530 14.703], to 1e-9: true
}

// What is learned of a model by acting in it, and a model drawn from that.
func ExampleDirichlet() {
	task, err := catalog.RiverSwim(6)
	if err != nil {
		fmt.Println(err)
		return
	}
	belief, err := mdp.NewDirichlet(mdp.DirichletPrior{States: 6, Actions: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var solver mdp.AverageSolver
	s, total := task.Model.Start(rng), 0.0
	for episode := range 100 { // posterior sampling: act by a model drawn now and then
		sol, err := solver.Solve(belief.Sample(rng), mdp.SolverConfig{})
		if err != nil {
			fmt.Println(err)
			return
		}
		for range 20 + episode {
			a := sol.Policy[s]
			next, r := task.Model.Step(s, a, rng)
			belief.Update(s, a, r, next)
			s, total = next, total+r
		}
	}
	fmt.Printf("%.0f steps, %.2f per step; 0.43 is optimal\n", belief.Total(), total/belief.Total())
	// Output:
	// 6950 steps, 0.43 per step; 0.43 is optimal
}

// Properties of any chain are reported with the states that cause them.
func ExampleChain_Structure() {
	task, err := catalog.DoubleLoop()
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := mdp.Induce(task.Model, mdp.Uniform{})
	if err != nil {
		fmt.Println(err)
		return
	}
	st := c.Structure()
	fmt.Println("random:", st.Irreducible(), st.Aperiodic())

	sol, err := mdp.SolveAverage(task.Model, mdp.SolverConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if c, err = mdp.Induce(task.Model, sol.Policy); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("optimal: gain %.1f, %v\n", sol.Gain[0], c.Structure().RequireAperiodic())
	// Output:
	// random: true true
	// optimal: gain 0.4, mdp: not aperiodic: the closed class {0, 5, 6, 7, 8} has period 5
}

func ExampleParseModel() {
	_, err := mdp.ParseModel(strings.NewReader(`{
  "S": 2, "A": 1,
  "transitions": [[0,0,1,1.0],
                  [1,0,0,"0.5"], [1,0,1,0.5]]
}`))
	fmt.Println(err)
	// Output:
	// mdp: line 4, column 19: transitions[1]: want a number, got the string "0.5"
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
	mix, err := mdp.MixingTime(m, mdp.Constant(2, 0), mdp.MixingConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(mix.T[0][1] == mdp.Never, mix.Why)
	// Output:
	// true mdp: not aperiodic: taking action 1 in state 0 is never forgotten, it shifts the phase in the closed class {0, 1} of period 2
}

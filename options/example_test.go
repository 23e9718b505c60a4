package options_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
	"github.com/rlrun/rlrun/options"
)

// Staying is worth 0.5 for sure. Another option may be worth 0.9, in one model of
// four, and else 0.2. It would be held for 5 steps.
func ExampleDecide() {
	p := options.Problem{
		Arms:   []options.Arm{{Name: "stay"}, {Name: "leave"}},
		Values: []float64{0.5, 0.5, 0.5, 0.5, 0.9, 0.2, 0.2, 0.2},
		Hold:   5,
	}
	for _, gamma := range []float64{0.9, 0.95} {
		d, err := options.Decide(options.DeciderConfig{Rule: options.RuleCommonModel, Horizon: bandit.Discounted(gamma)}, &p, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("γ = %v: %s, as δ = %.1f with p = %.2f costs the share ρ = %.3f\n", gamma, d.Option, d.Delta, d.P, d.Share)
	}
	// Output:
	// γ = 0.9: stay, as δ = 0.4 with p = 0.25 costs the share ρ = 0.410
	// γ = 0.95: leave, as δ = 0.4 with p = 0.25 costs the share ρ = 0.226
}

// After 200 steps of always going left in RiverSwim the belief still holds all
// sorts of policies possible. Their values in each of ten models drawn from it make a
// bandit.
func ExampleReducer() {
	task, err := catalog.RiverSwim(6)
	if err != nil {
		fmt.Println(err)
		return
	}
	belief, err := mdp.NewDirichlet(mdp.DirichletPrior{States: 6, Actions: 2, Rewards: mdp.BetaReward{A: 0.004, B: 0.996}})
	if err != nil {
		fmt.Println(err)
		return
	}
	rng := rand.New(rand.NewPCG(1, 2))
	s := 0
	for range 200 {
		next, r := task.Model.Step(s, 0, rng)
		belief.Update(s, 0, r, next)
		s = next
	}
	members := make([]*mdp.Tabular, 10)
	for k := range members {
		members[k] = belief.Sample(rng)
	}
	var reducer options.Reducer
	red, err := reducer.Reduce(members, options.ReduceConfig{Mean: belief.Mean()})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(red.Candidates), "options")
	for x, c := range red.Candidates[:3] {
		fmt.Println(c.Name, len(red.Values(x, s)), "values")
	}
	// Output:
	// 11 options
	// greedy 10 values
	// member 0 10 values
	// member 1 10 values
}

// The model of an option says what it earns, how long it takes, and where it ends: on a
// line of ten cells with a reward at the end, one option walks all the way.
func ExampleNewModel() {
	line, err := mdp.Generate(mdp.Definition{States: 10, Actions: 2}, func(s, a int, row *mdp.Row) {
		row.Add(min(9, max(0, s-1+2*a)), 1)
		if s == 9 {
			row.Reward(1)
		}
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	end := make([]float64, 10)
	end[9] = 1
	walk := options.Markov{Policy: mdp.Constant(10, 1), End: end}
	model, err := options.NewModel(line, walk, 0.9)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range []int{0, 8, 9} {
		fmt.Printf("from %d: reward %.3f, E γ^k = %.3f in state 9\n", s, model.Reward[s], model.Transition(s)[9])
	}
	// Output:
	// from 0: reward 0.000, E γ^k = 0.387 in state 9
	// from 8: reward 0.000, E γ^k = 0.900 in state 9
	// from 9: reward 1.000, E γ^k = 0.900 in state 9
}

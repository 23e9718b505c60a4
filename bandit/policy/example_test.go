package policy_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/bandit/policy"
)

// Three arms that pay 1 or 0, played by the paper's Algorithm 1.
func Example() {
	means := []float64{0.2, 0.5, 0.7}
	gamma := 0.99
	p, err := policy.New(
		policy.Optimistic{Horizon: policy.Horizon{Gamma: &gamma}},
		policy.BetaBelief{},
		policy.Task{Arms: len(means), Low: 0, High: 1},
		rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		fmt.Println(err)
		return
	}
	world := rand.New(rand.NewPCG(1, 2)) // what the arms draw
	own := rand.New(rand.NewPCG(1, 3))   // what the policy draws
	pulls, total := make([]int, len(means)), 0.0
	for range 1000 {
		arm := p.SelectArm(own)
		reward := 0.0
		if world.Float64() < means[arm] {
			reward = 1
		}
		p.Update(arm, reward, own)
		pulls[arm]++
		total += reward
	}
	fmt.Println("pulls", pulls, "reward", total)
	// Output:
	// pulls [3 3 994] reward 688
}

// A Maker makes many policies of one specification, in any number of goroutines. It
// computes shared data, here a plan, only once.
func ExampleMaker() {
	horizon := 20
	maker, err := policy.NewMaker(
		policy.BackwardInduction{Horizon: policy.Horizon{Pulls: &horizon}},
		policy.BetaBelief{},
		policy.Task{Arms: 2, Low: 0, High: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	total := 0.0
	for run := range uint64(100_000) {
		rng := rand.New(rand.NewPCG(run, 1))
		means := []float64{rng.Float64(), rng.Float64()}
		p := maker.New(rng)
		for range horizon {
			arm := p.SelectArm(rng)
			reward := 0.0
			if rng.Float64() < means[arm] {
				reward = 1
			}
			p.Update(arm, reward, rng)
			total += reward
		}
	}
	fmt.Printf("%.1f per run; 12.4 is optimal\n", total/100_000)
	// Output:
	// 12.4 per run; 12.4 is optimal
}

// A specification is checked as a whole; errors say what is allowed.
func ExampleNew_errors() {
	task := policy.Task{Arms: 3, Low: 0, High: 1}
	for _, s := range []policy.Spec{
		policy.EpsilonGreedy{Epsilon: new(2.0)},
		policy.Optimistic{Bound: "V", LowerBound: new(0.0)},
		policy.Budgeted{},
	} {
		_, err := policy.New(s, nil, task, nil)
		fmt.Println(err)
	}
	fmt.Println(task.Check(1.5))
	// Output:
	// policy: epsilon is 2, must be in [0,1]
	// policy: lower_bound has no effect with bound V: leave it out, or give it with bound U
	// policy: budget must be given: the number of pulls before committing to an arm, at least 1
	// reward 1.5 is not a finite number in [0, 1]
}

// Two arms that pay counts, each with a prior of its own.
func ExampleNewOn() {
	rng := rand.New(rand.NewPCG(1, 2))
	arms := []bandit.Learner{&bandit.GammaPoisson{A: 5, B: 1}, &bandit.GammaPoisson{A: 1, B: 1}} // priors of mean 5 and 1
	p, err := policy.NewOn(policy.Thompson{}, arms, policy.Task{Arms: 2, Low: 0, High: math.Inf(1)})
	if err != nil {
		fmt.Println(err)
		return
	}
	pulls := make([]int, 2)
	for range 300 {
		arm := p.SelectArm(rng)
		count := 0.0
		for t := rng.ExpFloat64(); t < []float64{3, 4}[arm]; t += rng.ExpFloat64() {
			count++
		}
		p.Update(arm, count, rng)
		pulls[arm]++
	}
	fmt.Printf("pulls %v; the second arm pays %.1f\n", pulls, arms[1].Mean())
	// Output:
	// pulls [47 253]; the second arm pays 3.9
}

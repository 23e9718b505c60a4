package explore_test

import (
	"context"
	"fmt"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/explore"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/options"
)

// lever pays 0.5 for action 0 and 0.6 for action 1, for ever.
type lever struct{}

func (lever) Spec() framework.Spec {
	return framework.Spec{ID: "me/lever@1", Observation: space.Discrete{N: 1}, Action: space.Discrete{N: 2}, RewardHigh: 1, Continuing: true}
}

func (lever) Reset(context.Context, uint64) (space.Value, error) { return space.Value{}, nil }

func (lever) Step(_ context.Context, action space.Value) (framework.TimeStep, error) {
	return framework.TimeStep{Reward: []float64{0.5, 0.6}[action.Int]}, nil
}

// learner believes that action 0 pays 0.5, and of action 1 either 0.2 or 0.6, with equal
// chances, until it has seen what it pays.
type learner struct{ pays [2][]float64 }

func (l *learner) SelectAction(context.Context, space.Value) (space.Value, error) {
	return space.Value{}, nil
}

func (l *learner) Update(_ context.Context, t framework.Transition) error {
	l.pays[t.Action.Int] = []float64{t.Reward, t.Reward}
	return nil
}

// Options implements framework.Optioner: an option for each action, the better one first.
func (l *learner) Options(context.Context, space.Value, []options.Kind) (framework.Candidates, error) {
	var c framework.Candidates
	best := 0
	if l.pays[1][0]+l.pays[1][1] > l.pays[0][0]+l.pays[0][1] {
		best = 1
	}
	for _, a := range []int{best, 1 - best} {
		c.Arms = append(c.Arms, options.Arm{Name: fmt.Sprint("action ", a)})
		c.Values = append(c.Values, l.pays[a]...)
		c.Policies = append(c.Policies, func(context.Context, space.Value) (space.Value, error) {
			return space.Value{Int: int64(a)}, nil
		})
	}
	return c, nil
}

// The host decides when an agent tries an action that it believes to be worse in the
// mean. With much time left, to know whether it pays 0.6 is worth what trying costs.
func ExampleNew() {
	ctx, env := context.Background(), lever{}
	for _, gamma := range []float64{0.5, 0.99} {
		environments, err := vector.Vectorize(func() (framework.Environment, error) { return env, nil }, 1)
		if err != nil {
			fmt.Println(err)
			return
		}
		agents, err := vector.VectorizeAgent(func(uint64) (framework.Agent, error) {
			return &learner{[2][]float64{{0.5, 0.5}, {0.2, 0.6}}}, nil
		}, env.Spec(), 1)
		if err != nil {
			fmt.Println(err)
			return
		}
		host, err := explore.New(ctx, agents.Abilities().Options, env.Spec(), 1, explore.Config{
			Decider:    options.DeciderConfig{Rule: options.RuleIndex, Bound: bandit.V, Horizon: bandit.Discounted(gamma)},
			Kinds:      []options.Kind{options.Constants},
			Commitment: options.CommitmentConfig{Fixed: 1},
			Log:        10,
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		if _, err := loop.Run(ctx, loop.Batch{
			Environment: environments, Agent: host, Runs: []int{0}, Seeds: seed.NewSource(1, env.Spec().ID), Steps: 3, Discount: 1,
		}); err != nil {
			fmt.Println(err)
			return
		}
		for _, d := range host.Decisions(0) {
			fmt.Printf("γ = %v, step %d: %s\n", gamma, d.Step, d.Option)
		}
	}
	// Output:
	// γ = 0.5, step 0: action 0
	// γ = 0.5, step 1: action 0
	// γ = 0.5, step 2: action 0
	// γ = 0.99, step 0: action 1
	// γ = 0.99, step 1: action 1
	// γ = 0.99, step 2: action 1
}

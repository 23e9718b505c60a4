package loop_test

import (
	"context"
	"fmt"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// lever pays 1 for action 1 and nothing for action 0, for ever.
type lever struct{}

func (lever) Spec() framework.Spec {
	return framework.Spec{ID: "me/lever@1", Observation: space.Discrete{N: 1}, Action: space.Discrete{N: 2}, RewardHigh: 1, Continuing: true}
}

func (lever) Reset(context.Context, uint64) (space.Value, error) { return space.Value{}, nil }

func (lever) Step(_ context.Context, action space.Value) (framework.TimeStep, error) {
	return framework.TimeStep{Reward: float64(action.Int)}, nil
}

// cautious takes action 0 for five steps, and action 1 from then on.
type cautious struct{ steps int }

func (c *cautious) SelectAction(context.Context, space.Value) (space.Value, error) {
	if c.steps < 5 {
		return space.Value{Int: 0}, nil
	}
	return space.Value{Int: 1}, nil
}

func (c *cautious) Update(context.Context, framework.Transition) error {
	c.steps++
	return nil
}

// Two runs of an agent in an environment, a lane each, and their curves at four steps.
func ExampleRun() {
	env, err := vector.Vectorize(func() (framework.Environment, error) { return lever{}, nil }, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	agent, err := vector.VectorizeAgent(func(uint64) (framework.Agent, error) { return &cautious{}, nil }, env.Spec(), 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	outcomes, err := loop.Run(context.Background(), loop.Batch{
		Environment: env, Agent: agent, Runs: []int{0, 1}, Seeds: seed.NewSource(1, env.Spec().ID),
		Steps: 20, Grid: []int{1, 5, 10, 20}, Discount: 1, Metrics: []metric.Name{metric.Reward, metric.CumulativeReward},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, o := range outcomes {
		fmt.Println(o.Run, o.Steps, o.Curves[metric.Reward], o.Curves[metric.CumulativeReward])
	}
	// Output:
	// 0 20 [0 0 1 1] [0 0 5 15]
	// 1 20 [0 0 1 1] [0 0 5 15]
}

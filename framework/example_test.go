package framework_test

import (
	"context"
	"fmt"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
)

// corridor has three cells. Action 1 goes right, action 0 goes left, and the last cell
// pays 1 and ends the episode.
type corridor struct {
	cell  int64
	steps int
	ended bool
}

func (c *corridor) Spec() framework.Spec {
	return framework.Spec{ID: "me/corridor@1", Observation: space.Discrete{N: 3}, Action: space.Discrete{N: 2}, RewardHigh: 1}
}

func (c *corridor) Reset(context.Context, uint64) (space.Value, error) {
	c.cell, c.ended = 0, false
	return space.Value{Int: c.cell}, nil
}

func (c *corridor) Step(_ context.Context, action space.Value) (framework.TimeStep, error) {
	switch {
	case c.ended:
		return framework.TimeStep{}, framework.ErrNeedsReset
	case action.Int != 0 && action.Int != 1:
		return framework.TimeStep{}, framework.ErrInvalidAction
	}
	c.steps++
	c.cell = max(c.cell+2*action.Int-1, 0)
	c.ended = c.cell == 2
	step := framework.TimeStep{Observation: space.Value{Int: c.cell}, Terminated: c.ended}
	if c.ended {
		step.Reward = 1
	}
	return step, nil
}

// An episode by hand: reset, then steps until the environment says that it is over.
func ExampleEnvironment() {
	ctx := context.Background()
	env := &corridor{ended: true}
	spec := env.Spec()
	fmt.Println(spec.ID)
	_, err := env.Step(ctx, space.Value{Int: 1})
	fmt.Println(err)
	if _, err := env.Reset(ctx, 1); err != nil {
		fmt.Println(err)
		return
	}
	for {
		step, err := env.Step(ctx, space.Value{Int: 1})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("cell %d, reward %g, terminated %v\n", step.Observation.Int, step.Reward, step.Terminated)
		if step.Terminated || step.Truncated {
			return
		}
	}
	// Output:
	// me/corridor@1
	// the environment needs a reset
	// cell 1, reward 0, terminated false
	// cell 2, reward 1, terminated true
}

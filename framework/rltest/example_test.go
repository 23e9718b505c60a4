package rltest_test

import (
	"context"
	"fmt"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/rltest"
	"github.com/rlrun/rlrun/framework/space"
)

// door opens at the first push. Its author forgot what the largest reward is.
type door struct{}

func (d *door) Spec() framework.Spec {
	return framework.Spec{ID: "me/door@1", Observation: space.Discrete{N: 2}, Action: space.Discrete{N: 1}, RewardHigh: 1}
}

func (d *door) Reset(context.Context, uint64) (space.Value, error) { return space.Value{}, nil }

func (d *door) Step(context.Context, space.Value) (framework.TimeStep, error) {
	return framework.TimeStep{Observation: space.Value{Int: 1}, Reward: 2, Terminated: true}, nil
}

func ExampleCheckPlugin() {
	plain := func(struct{}) (*door, error) { return &door{}, nil }
	err := rltest.CheckPlugin(context.Background(), plugin.NewEnvironment("me/door@1", "A door.", struct{}{}, plain), nil)
	fmt.Println(err)
	// Output: reward-in-bounds: lane 2: reward 2, the spec's bounds are [0, 1]
}

package rltest_test

import (
	"context"
	"fmt"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/rltest"
	"github.com/rlrun/rlrun/framework/space"
)

// door opens at the first push. Its author forgot that an episode ends.
type door struct{ reset bool }

func (d *door) Spec() framework.Spec {
	return framework.Spec{ID: "me/door@1", Observation: space.Discrete{N: 2}, Action: space.Discrete{N: 1}, RewardHigh: 1}
}

func (d *door) Reset(context.Context, uint64) (space.Value, error) {
	d.reset = true
	return space.Value{Int: 0}, nil
}

func (d *door) Step(_ context.Context, action space.Value) (framework.TimeStep, error) {
	if !d.reset {
		return framework.TimeStep{}, framework.ErrNeedsReset
	}
	if action.Int != 0 {
		return framework.TimeStep{}, framework.ErrInvalidAction
	}
	return framework.TimeStep{Observation: space.Value{Int: 1}, Reward: 1, Terminated: true}, nil
}

func ExampleCheckEnvironment() {
	newEnv := func() (framework.Environment, error) { return &door{}, nil }
	err := rltest.CheckEnvironment(context.Background(), newEnv, nil)
	fmt.Println(err)
	// Output: needs-reset-after-an-episode: no error; want one that wraps "the environment needs a reset"
}

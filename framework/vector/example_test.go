package vector_test

import (
	"context"
	"fmt"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// counter counts the steps of an episode, which ends after two.
type counter struct{ steps int64 }

func (c *counter) Spec() framework.Spec {
	return framework.Spec{ID: "me/counter@1", Observation: space.Discrete{N: 3}, Action: space.Discrete{N: 1}}
}

func (c *counter) Reset(context.Context, uint64) (space.Value, error) {
	c.steps = 0
	return space.Value{}, nil
}

func (c *counter) Step(context.Context, space.Value) (framework.TimeStep, error) {
	c.steps++
	return framework.TimeStep{Observation: space.Value{Int: c.steps}, Terminated: c.steps == 2}, nil
}

// One call steps all lanes. A signal says what each lane does: here three runs begin,
// and then the second one stands still.
func ExampleVectorize() {
	env, err := vector.Vectorize(func() (framework.Environment, error) { return &counter{}, nil }, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer env.Close()
	in, out := vector.NewActions(env.Spec(), 3), vector.NewTimeSteps(env.Spec(), 3)
	for _, signals := range [][]vector.Signal{
		{vector.NewRun, vector.NewRun, vector.NewRun},
		{vector.Continue, vector.Idle, vector.Continue},
		{vector.Continue, vector.Continue, vector.Continue},
	} {
		copy(in.Signals, signals)
		if err := env.Step(context.Background(), in, &out); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(out.Observations.Int64, out.Terminated)
	}
	// Output:
	// [0 0 0] [false false false]
	// [1 0 1] [false false false]
	// [2 1 2] [true false true]
}

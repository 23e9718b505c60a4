package plugin_test

import (
	"context"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// openCopies opens counters as lanes of single copies.
func openCopies(f faults, lanes int) (vector.Environment, error) {
	lane := -1
	return vector.Vectorize(func() (framework.Environment, error) {
		lane++
		return &counter{faults: f, lane: lane}, nil
	}, lanes)
}

// counter is one copy of counters, but that a seed is an episode's.
type counter struct {
	faults
	lane  int
	count int64
	seed  uint64
}

func (c *counter) Spec() framework.Spec { return (&counters{faults: c.faults}).Spec() }

func (c *counter) Reset(_ context.Context, seed uint64) (space.Value, error) {
	c.count, c.seed = 0, seed
	return space.Value{}, nil
}

func (c *counter) Step(_ context.Context, a space.Value) (framework.TimeStep, error) {
	c.count++
	ts := framework.TimeStep{Observation: space.Value{Int: c.count % 5}, Terminated: c.count == 4 && c.Fault != "endless"}
	if a.Int == 2 {
		ts.Reward = 1 + float64(c.seed%1000)/1000
	}
	if c.strikes(c.lane, c.seed, int(c.count)) {
		return ts, c.strike()
	}
	return ts, nil
}

// openAgentCopies opens modulo as lanes of single copies. The first ones are made
// lane after lane.
func openAgentCopies(f faults, spec framework.Spec, lanes int) (vector.Agent, error) {
	lane := -2 // one is made to see what it can do
	return vector.VectorizeAgent(func(seed uint64) (framework.Agent, error) {
		lane++
		return &remainder{faults: f, lane: lane, seed: seed}, nil
	}, spec, lanes)
}

// remainder is one copy of modulo, but that a step is an action's outcome.
type remainder struct {
	faults
	lane  int
	steps int
	seed  uint64
}

func (r *remainder) SelectAction(_ context.Context, observation space.Value) (space.Value, error) {
	return space.Value{Int: observation.Int % 3}, nil
}

func (r *remainder) Update(context.Context, framework.Transition) error {
	r.steps++
	if r.strikes(r.lane, r.seed, r.steps) {
		return r.strike()
	}
	return nil
}

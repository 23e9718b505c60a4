package agenttest

import (
	"context"
	"testing"

	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// Caller steps one lane of an agent on Finite.
type Caller struct {
	Agent   vector.Agent // of one lane
	Actions space.Column // of the last step
	in      *vector.Feedback
}

// NewCaller opens an agent.
func NewCaller(t testing.TB, p vector.Plugin, params string) *Caller {
	t.Helper()
	agent := must.Get(p.OpenAgent(context.Background(), []byte(params), Finite, 1))(t)
	return &Caller{agent, space.NewColumn(Finite.Action, 1), vector.NewFeedback(Finite, 1)}
}

// Step makes a step with what the environment answered, in run 1.
func (c *Caller) Step(s vector.Signal, state int64, r float64, terminated, truncated bool) error {
	c.in.Signals[0], c.in.Seeds[0], c.in.Observations.Int64[0] = s, 1, state
	c.in.Rewards[0], c.in.Terminated[0], c.in.Truncated[0] = r, terminated, truncated
	return c.Agent.Step(context.Background(), c.in, &c.Actions)
}

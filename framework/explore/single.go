package explore

import (
	"context"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// laneExplorer is an explorer whose lanes can be stepped by themselves.
type laneExplorer struct {
	*explorer
	single  vector.LaneAgent // the agent
	in      *vector.Feedback // of the lane in question; the others are idle
	actions space.Column
}

func newLaneExplorer(a *explorer, single vector.LaneAgent, spec framework.Spec) *laneExplorer {
	return &laneExplorer{a, single, vector.NewFeedback(spec, len(a.lanes)), space.NewColumn(spec.Action, len(a.lanes))}
}

// Abilities implements vector.Agent.
func (a *laneExplorer) Abilities() vector.AgentAbilities {
	able := a.explorer.Abilities()
	able.Lane = a
	return able
}

// StepLane implements vector.LaneAgent.
func (a *laneExplorer) StepLane(i int, observation int64, reward float64) (action int64, err error) {
	l := &a.lanes[i]
	a.in.Observations.Int64[i], a.in.Rewards[i] = observation, reward
	if l.left == 0 || l.current >= 0 || l.tried() || l.data+1 >= l.due { // there may be something to decide
		a.in.Signals[i] = vector.Continue
		err := a.Step(context.Background(), a.in, &a.actions)
		a.in.Signals[i] = vector.Idle
		return a.actions.Int64[i], err
	}
	a.observe(l, a.in, i)
	if action, err = a.single.StepLane(i, observation, reward); err != nil {
		return 0, err
	}
	l.acted()
	if a.finite.states > 0 {
		l.pair = a.finite.pair(observation, action)
	}
	return action, nil
}

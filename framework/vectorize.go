package framework

import (
	"context"
	"errors"
	"fmt"

	"github.com/rlrun/rlrun/framework/space"
)

// Vectorize lifts single environments to lanes. newEnv is called once a lane; a
// panic in one lane becomes an error that names the lane.
func Vectorize(newEnv func() (Environment, error), lanes int) (VectorEnvironment, error) {
	if lanes < 1 {
		return nil, fmt.Errorf("%d lanes; must be at least 1", lanes)
	}
	v := &vectorEnvironment{envs: make([]Environment, lanes)}
	for i := range v.envs {
		env, err := newEnv()
		if err != nil {
			return nil, err
		}
		v.envs[i] = env
	}
	v.spec = v.envs[0].Spec()
	return v, nil
}

type vectorEnvironment struct {
	spec Spec
	envs []Environment
}

func (v *vectorEnvironment) Spec() Spec { return v.spec }

func (v *vectorEnvironment) Step(ctx context.Context, in *Actions, out *TimeSteps) error {
	for i := range v.envs {
		if err := Guard(func() error { return v.step(ctx, i, in, out) }); err != nil {
			return &LaneError{Lane: i, Err: err}
		}
	}
	return nil
}

func (v *vectorEnvironment) step(ctx context.Context, i int, in *Actions, out *TimeSteps) error {
	var ts TimeStep
	var err error
	switch in.Signals[i] {
	case Idle:
		return nil
	case NewEpisode, NewRun:
		ts.Observation, err = v.envs[i].Reset(ctx, in.Seeds[i])
	default:
		ts, err = v.envs[i].Step(ctx, in.Actions.Get(v.spec.Action, i))
	}
	if err != nil {
		return err
	}
	out.Rewards[i], out.Terminated[i], out.Truncated[i] = ts.Reward, ts.Terminated, ts.Truncated
	if err := out.Observations.Set(v.spec.Observation, i, ts.Observation); err != nil {
		return fmt.Errorf("%w: observation: %w", ErrInvalidAnswer, err)
	}
	return nil
}

// Close closes those copies that can be closed.
func (v *vectorEnvironment) Close() error {
	var first error
	for _, env := range v.envs {
		if c, ok := env.(interface{ Close() error }); ok {
			if err := c.Close(); err != nil && first == nil {
				first = err
			}
		}
	}
	return first
}

// VectorizeAgent lifts single agents to lanes. newAgent is called at the start
// of every run with the seed of the agent's random streams; a panic in one lane
// becomes an error that names the lane.
func VectorizeAgent(newAgent func(seed uint64) (Agent, error), spec Spec, lanes int) VectorAgent {
	return &vectorAgent{newAgent: newAgent, spec: spec, lanes: make([]agentLane, lanes)}
}

type agentLane struct {
	agent       Agent
	observation space.Value // owned copies of the last call's values
	action      space.Value
}

type vectorAgent struct {
	newAgent func(seed uint64) (Agent, error)
	spec     Spec
	lanes    []agentLane
}

func (v *vectorAgent) Step(ctx context.Context, in *Feedback, actions *space.Column) error {
	for i := range v.lanes {
		if err := Guard(func() error { return v.step(ctx, i, in, actions) }); err != nil {
			return &LaneError{Lane: i, Err: err}
		}
	}
	return nil
}

func (v *vectorAgent) step(ctx context.Context, i int, in *Feedback, actions *space.Column) error {
	signal := in.Signals[i]
	if signal == Idle {
		return nil
	}
	lane := &v.lanes[i]
	if signal == NewRun {
		a, err := v.newAgent(in.Seeds[i])
		if err != nil {
			return err
		}
		lane.agent = a
	}
	if lane.agent == nil {
		return errors.New("a step before the lane's first run")
	}
	obs := in.Observations.Get(v.spec.Observation, i)
	if signal == Continue {
		err := lane.agent.Update(ctx, Transition{
			Observation: lane.observation, Action: lane.action,
			Reward: in.Rewards[i], NextObservation: obs,
			Terminated: in.Terminated[i], Truncated: in.Truncated[i],
		})
		if err != nil || in.Terminated[i] || in.Truncated[i] {
			return err
		}
	}
	a, err := lane.agent.SelectAction(ctx, obs)
	if err != nil {
		return err
	}
	lane.observation.CopyFrom(obs)
	lane.action.CopyFrom(a)
	if err := actions.Set(v.spec.Action, i, a); err != nil {
		return fmt.Errorf("%w: action: %w", ErrInvalidAnswer, err)
	}
	return nil
}

func (v *vectorAgent) Close() error { return nil }

package vector

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/options"
)

// VectorizeAgent lifts single agents to lanes. newAgent is called at the start of
// every run with the seed of the agent's random streams. It is also called once
// here, to find the agent's abilities. A panic in one lane becomes an error that
// names the lane. Lanes have the optional abilities of the agents: see AgentBatcher,
// Optioner, Saver and Loader. An agent that is an io.Closer is closed when its
// lane's next run begins, or with the lanes.
func VectorizeAgent(newAgent func(seed uint64) (framework.Agent, error), spec framework.Spec, lanes int) (Agent, error) {
	if lanes < 1 {
		return nil, fmt.Errorf("%d lanes; must be at least 1", lanes)
	}
	probe, err := newAgent(0)
	if err != nil {
		return nil, err
	}
	if b, ok := probe.(AgentBatcher); ok {
		return b.BatchAgent(lanes)
	}
	if err := closeCopy(probe); err != nil {
		return nil, err
	}
	return &vectorAgent{newAgent: newAgent, spec: spec, lanes: make([]agentLane, lanes), probe: probe}, nil
}

type agentLane struct {
	agent       framework.Agent
	observation space.Value // owned copies of the last call's values
	action      space.Value
	decision    framework.Candidates // the last one, if the host has decided in this run
	follows     framework.Policy     // that the host has chosen; nil for the agent's own
}

// end ends the lane's run, if it is in one.
func (l *agentLane) end() error {
	agent := l.agent
	l.agent, l.decision, l.follows = nil, framework.Candidates{}, nil
	return closeCopy(agent)
}

type vectorAgent struct {
	newAgent func(seed uint64) (framework.Agent, error)
	spec     framework.Spec
	lanes    []agentLane
	probe    framework.Agent // a closed one, which tells the abilities
	kinds    []options.Kind  // of options, that the host wants besides the greedy one
}

// Abilities implements Agent.
func (v *vectorAgent) Abilities() (a AgentAbilities) {
	if _, ok := v.probe.(framework.Optioner); ok {
		a.Options = v
	}
	if _, ok := v.probe.(framework.Saver); ok {
		a.Save = v.save
	}
	if _, ok := v.probe.(framework.Loader); ok {
		a.Load = v.load
	}
	a.Measures = measuresOf(v.probe, func(lane int) any { return v.lanes[lane].agent })
	return a
}

func (v *vectorAgent) Step(ctx context.Context, in *Feedback, actions *space.Column) error {
	return eachLane(ctx, len(v.lanes), func(i int) error {
		if acts, err := v.learn(ctx, i, in); err != nil || !acts {
			return err
		}
		return v.act(ctx, i, in.Observations.Get(v.spec.Observation, i), actions)
	})
}

// learn lets a lane learn, and note the observation if it is to act on it.
func (v *vectorAgent) learn(ctx context.Context, i int, in *Feedback) (acts bool, err error) {
	signal := in.Signals[i]
	if signal == Idle {
		return false, nil
	}
	lane := &v.lanes[i]
	if signal == NewRun {
		if err := lane.end(); err != nil {
			return false, fmt.Errorf("closing the last run's agent: %w", err)
		}
		a, err := v.newAgent(in.Seeds[i])
		if err != nil {
			return false, err
		}
		lane.agent = a
	}
	if lane.agent == nil {
		return false, errors.New("a step before the lane's first run")
	}
	obs := in.Observations.Get(v.spec.Observation, i)
	switch {
	case signal == Evaluate && (in.Terminated[i] || in.Truncated[i]):
		return false, nil
	case signal == Continue:
		err := lane.agent.Update(ctx, framework.Transition{
			Observation: lane.observation, Action: lane.action,
			Reward: in.Rewards[i], NextObservation: obs,
			Terminated: in.Terminated[i], Truncated: in.Truncated[i],
		})
		if err != nil || in.Terminated[i] || in.Truncated[i] {
			return false, err
		}
	}
	lane.observation.CopyFrom(obs)
	return true, nil
}

// act lets a lane select an action.
func (v *vectorAgent) act(ctx context.Context, i int, observation space.Value, actions *space.Column) error {
	lane := &v.lanes[i]
	policy := lane.follows
	if policy == nil {
		policy = lane.agent.SelectAction
	}
	a, err := policy(ctx, observation)
	if err != nil {
		return err
	}
	lane.action.CopyFrom(a)
	if err := actions.Set(v.spec.Action, i, a); err != nil {
		return fmt.Errorf("%w: action: %w", framework.ErrInvalidAnswer, err)
	}
	return nil
}

// Close closes those agents that can be closed.
func (v *vectorAgent) Close() error {
	var errs []error
	for i := range v.lanes {
		errs = append(errs, v.lanes[i].end())
	}
	return errors.Join(errs...)
}

// save returns the lane's last observation and action,
// then what its agent saves.
func (v *vectorAgent) save(ctx context.Context, lane int) (state []byte, err error) {
	l, err := v.begun(lane)
	if err != nil {
		return nil, err
	}
	agent, ok := l.agent.(framework.Saver)
	if !ok {
		return nil, fmt.Errorf("the agent cannot be saved: %w", framework.ErrUnsupported)
	}
	if l.decision.Policies != nil {
		return nil, fmt.Errorf("an agent that a host has given options to follow cannot be saved within the run: %w", framework.ErrUnsupported)
	}
	err = Guard(func() error {
		saved, err := agent.Save(ctx)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(laneState{saved, l.observation, l.action}); err != nil {
			return err
		}
		state = b.Bytes()
		return nil
	})
	return state, err
}

// laneState is a saved lane.
type laneState struct {
	Agent               []byte
	Observation, Action space.Value
}

// load restores what save returned.
func (v *vectorAgent) load(ctx context.Context, lane int, state []byte) error {
	if lane >= 0 && lane < len(v.lanes) && v.lanes[lane].agent == nil { // before the first run
		a, err := v.newAgent(0)
		if err != nil {
			return err
		}
		v.lanes[lane].agent = a
	}
	l, err := v.begun(lane)
	if err != nil {
		return err
	}
	agent, ok := l.agent.(framework.Loader)
	if !ok {
		return fmt.Errorf("the agent cannot be loaded: %w", framework.ErrUnsupported)
	}
	var s laneState
	if err := gob.NewDecoder(bytes.NewReader(state)).Decode(&s); err != nil {
		return fmt.Errorf("not the state of a lane: %w", err)
	}
	l.observation, l.action = s.Observation, s.Action
	l.decision, l.follows = framework.Candidates{}, nil
	return Guard(func() error { return agent.Load(ctx, s.Agent) })
}

// begun returns a lane that has an agent.
func (v *vectorAgent) begun(lane int) (*agentLane, error) {
	if lane < 0 || lane >= len(v.lanes) {
		return nil, fmt.Errorf("no lane %d of %d", lane, len(v.lanes))
	}
	if v.lanes[lane].agent == nil {
		return nil, fmt.Errorf("lane %d has not begun a run: %w", lane, framework.ErrNeedsReset)
	}
	return &v.lanes[lane], nil
}

package vector

import (
	"context"
	"errors"
	"fmt"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/internal/snapshot"
	"github.com/rlrun/rlrun/options"
)

// VectorizeAgent lifts single agents to lanes. newAgent is called at the start of
// every run with the seed of the agent's random streams. It is also called once
// here, to find the agent's abilities. A panic in one lane becomes an error that
// names the lane. Lanes have the optional abilities of the agents: see AgentBatcher,
// GreedyAgent, Optioner, Saver and Loader. An agent that is an io.Closer is closed when its
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
	if spec.Actors > 1 {
		return nil, errors.Join(fmt.Errorf("%d actors, and the agent is no AgentBatcher, so that each copy acts in one environment: %w", spec.Actors, framework.ErrUnsupported), closeCopy(probe))
	}
	if err := closeCopy(probe); err != nil {
		return nil, err
	}
	v := &vectorAgent{newAgent: newAgent, spec: spec, lanes: make([]agentLane, lanes), probe: probe}
	_, v.greedy = probe.(framework.GreedyAgent)
	_, observations := spec.Observation.(space.Discrete)
	_, actions := spec.Action.(space.Discrete)
	if observations && actions {
		return &laneVectorAgent{v}, nil
	}
	return v, nil
}

type agentLane struct {
	agent       framework.Agent
	observation space.Value // owned copies of the last call's values
	action      space.Value
	decision    framework.Candidates // the last one, if the host has decided in this run
	follows     framework.Policy     // that the host has chosen; nil for the agent's own
	lost        bool                 // saved while it followed an option; it has begun nothing since it was loaded
	evaluates   bool                 // EvaluateEpisode began the episode
}

// end ends the lane's run, if it is in one.
func (l *agentLane) end() error {
	agent := l.agent
	*l = agentLane{observation: l.observation, action: l.action}
	return closeCopy(agent)
}

type vectorAgent struct {
	newAgent func(seed uint64) (framework.Agent, error)
	spec     framework.Spec
	lanes    []agentLane
	probe    framework.Agent // a closed one, which tells the abilities
	id       string          // of the plugin, if it is known
	greedy   bool            // the agents are GreedyAgents
	kinds    []options.Kind  // of options, that the host wants besides the greedy one
}

// Abilities implements Agent.
func (v *vectorAgent) Abilities() (a AgentAbilities) {
	a.Greedy = v.greedy
	_, a.Masks = v.probe.(framework.MaskedAgent)
	if _, ok := v.probe.(framework.Optioner); ok {
		a.Options = v
	}
	_, saves := v.probe.(framework.Saver)
	_, loads := v.probe.(framework.Loader)
	if saves && loads {
		a.Calls = Checkpoint(v.save, v.load)
	}
	a.Measures = measuresOf(v.probe, func(lane int) any { return v.lanes[lane].agent })
	return a
}

func (v *vectorAgent) Step(ctx context.Context, in *Feedback, actions *space.Column) error {
	return eachLane(len(v.lanes), func(i int) error {
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
	if signal != Continue && signal != Evaluate {
		lane.lost, lane.evaluates = false, signal == EvaluateEpisode
	}
	if signal == Evaluate && (in.Terminated[i] || in.Truncated[i]) {
		return false, nil
	}
	if in.Masks != nil {
		masked, ok := lane.agent.(framework.MaskedAgent)
		if !ok {
			return false, fmt.Errorf("a %T reads no masks, other than the agents before it: %w", lane.agent, framework.ErrUnsupported)
		}
		masked.SetActionMask(in.Mask(i))
	}
	if signal == Continue {
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
	a, err := v.selectAction(ctx, &v.lanes[i], observation)
	if err != nil {
		return err
	}
	if err := actions.Set(v.spec.Action, i, a); err != nil {
		return fmt.Errorf("%w: action: %w", framework.ErrInvalidAnswer, err)
	}
	return nil
}

// selectAction returns a lane's action and notes it.
func (v *vectorAgent) selectAction(ctx context.Context, lane *agentLane, observation space.Value) (space.Value, error) {
	policy := lane.follows
	switch {
	case lane.lost:
		return space.Value{}, fmt.Errorf("the option that the lane followed when it was saved is known to the agent's program alone; begin an episode, or choose an option: %w", framework.ErrNeedsReset)
	case lane.evaluates && v.greedy:
		policy = lane.agent.(framework.GreedyAgent).SelectGreedyAction
	case policy == nil:
		policy = lane.agent.SelectAction
	}
	a, err := policy(ctx, observation)
	if err == nil {
		lane.action.CopyFrom(a)
	}
	return a, err
}

// Close closes those agents that can be closed.
func (v *vectorAgent) Close() error {
	var errs []error
	for i := range v.lanes {
		errs = append(errs, v.lanes[i].end())
	}
	return errors.Join(errs...)
}

// begun returns a lane that has an agent.
func (v *vectorAgent) begun(lane int) (*agentLane, error) {
	if err := snapshot.Lane(lane, len(v.lanes)); err != nil {
		return nil, err
	}
	if v.lanes[lane].agent == nil {
		return nil, &LaneError{Lane: lane, Err: fmt.Errorf("no run has begun: %w", framework.ErrNeedsReset)}
	}
	return &v.lanes[lane], nil
}

// laneVectorAgent is a vectorAgent for space.Discrete observations and actions.
type laneVectorAgent struct{ *vectorAgent }

// Abilities implements Agent.
func (v *laneVectorAgent) Abilities() AgentAbilities {
	a := v.vectorAgent.Abilities()
	a.Lane = v
	if a.Options != nil {
		a.Options = v
	}
	return a
}

// StepLane implements LaneAgent.
func (v *laneVectorAgent) StepLane(i int, observation int64, reward float64) (action int64, err error) {
	ctx, lane, obs := context.Background(), &v.lanes[i], space.Value{Int: observation}
	err = Guard(func() error {
		if lane.agent == nil {
			return errors.New("a step before the lane's first run")
		}
		t := framework.Transition{Observation: lane.observation, Action: lane.action, Reward: reward, NextObservation: obs}
		if err := lane.agent.Update(ctx, t); err != nil {
			return err
		}
		lane.observation.CopyFrom(obs)
		a, err := v.selectAction(ctx, lane, obs)
		if err != nil {
			return err
		}
		if action, err = v.spec.Action.(space.Discrete).Element(a); err != nil {
			return fmt.Errorf("%w: action: %w", framework.ErrInvalidAnswer, err)
		}
		return nil
	})
	if err != nil {
		err = &LaneError{Lane: i, Err: err}
	}
	return action, err
}

package vector

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/options"
)

// Lanes of agents that are Optioners.

var _ OptionAgent = (*vectorAgent)(nil)

// SetOptionKinds implements OptionAgent: it asks a fresh agent for such options.
func (v *vectorAgent) SetOptionKinds(ctx context.Context, kinds []options.Kind) error {
	v.kinds = slices.DeleteFunc(slices.Clone(kinds), func(k options.Kind) bool { return k == options.Greedy })
	return Guard(func() error {
		agent, err := v.newAgent(0)
		if err != nil {
			return err
		}
		_, err = v.ask(ctx, agent, space.Sample(v.spec.Observation, rand.New(rand.NewPCG(0, 0))))
		return errors.Join(err, closeCopy(agent))
	})
}

// StepOptions implements OptionAgent.
func (v *vectorAgent) StepOptions(ctx context.Context, in *Feedback, epochs []bool, actions *space.Column, problems []options.Problem) error {
	return eachLane(len(v.lanes), func(i int) error {
		if acts, err := v.learn(ctx, i, in); err != nil || !acts {
			return err
		}
		observation := in.Observations.Get(v.spec.Observation, i)
		if !epochs[i] {
			return v.act(ctx, i, observation, actions)
		}
		lane := &v.lanes[i]
		c, err := v.ask(ctx, lane.agent, observation)
		lane.decision, problems[i] = c, c.Problem
		return err
	})
}

// ask returns an agent's options.
func (v *vectorAgent) ask(ctx context.Context, agent framework.Agent, observation space.Value) (framework.Candidates, error) {
	able, ok := agent.(framework.Optioner)
	if !ok {
		return framework.Candidates{}, fmt.Errorf("a %T has no options, other than the agents before it: %w", agent, framework.ErrUnsupported)
	}
	c, err := able.Options(ctx, observation, v.kinds)
	if err != nil {
		return framework.Candidates{}, err
	}
	switch {
	case len(c.Policies) != c.NumOptions():
		err = fmt.Errorf("%w: %d policies for %d options", framework.ErrInvalidAnswer, len(c.Policies), c.NumOptions())
	case c.Greedy < 0 || c.Greedy >= len(c.Arms):
		err = fmt.Errorf("%w: the greedy option is number %d of %d", framework.ErrInvalidAnswer, c.Greedy, len(c.Arms))
	}
	for x, p := range c.Policies {
		if p == nil && err == nil {
			err = fmt.Errorf("%w: option %s has no policy", framework.ErrInvalidAnswer, c.Name(x))
		}
	}
	return c, err
}

// Choose implements OptionAgent.
func (v *vectorAgent) Choose(ctx context.Context, choices []int, actions *space.Column) error {
	return eachLane(len(choices), func(i int) error {
		choice, lane := choices[i], &v.lanes[i]
		switch {
		case choice < 0:
			return nil
		case choice >= len(lane.decision.Policies):
			return fmt.Errorf("option %d of %d: %w", choice, len(lane.decision.Policies), framework.ErrInvalidAction)
		}
		lane.follows, lane.lost = lane.decision.Policies[choice], false
		return v.act(ctx, i, lane.observation, actions)
	})
}

// GreedyPolicy implements OptionAgent: it asks the policy of the lane's last greedy
// option.
func (v *vectorAgent) GreedyPolicy(ctx context.Context, lane int, dst []int) ([]int, error) {
	observations, ok := v.spec.Observation.(space.Discrete)
	actions, ok2 := v.spec.Action.(space.Discrete)
	switch {
	case !ok || !ok2:
		return dst, fmt.Errorf("observations and actions are not discrete: %w", framework.ErrUnsupported)
	case lane < 0 || lane >= len(v.lanes):
		return dst, fmt.Errorf("no lane %d of %d", lane, len(v.lanes))
	case v.lanes[lane].decision.Policies == nil:
		return dst, &LaneError{Lane: lane, Err: fmt.Errorf("the lane has not faced a decision: %w", framework.ErrNeedsReset)}
	}
	d := &v.lanes[lane].decision
	dst = dst[:0]
	err := Guard(func() error {
		for s := range observations.N {
			a, err := d.Policies[d.Greedy](ctx, space.Value{Int: observations.Start + s})
			if err != nil {
				return err
			}
			if _, err := actions.Element(a); err != nil {
				return fmt.Errorf("%w: greedy action in observation %d: %w", framework.ErrInvalidAnswer, observations.Start+s, err)
			}
			dst = append(dst, int(a.Int-actions.Start))
		}
		return nil
	})
	if err != nil {
		err = &LaneError{Lane: lane, Err: err}
	}
	return dst, err
}

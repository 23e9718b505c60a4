package rltest

import (
	"errors"
	"fmt"
	"math"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// started opens lanes and starts a run in those that are not left out.
func (c *vectorCheck) started(n, leftOut int, f func(vector.Environment, *vector.Actions, *vector.TimeSteps) error) error {
	return c.with(n, func(env vector.Environment) error {
		in, out := vector.NewActions(c.spec, n), vector.NewTimeSteps(c.spec, n)
		for i := range n {
			if i != leftOut {
				in.Signals[i], in.Seeds[i] = vector.NewRun, uint64(i)
			}
		}
		if err := env.Step(c.ctx, in, &out); err != nil {
			return err
		}
		for i := range n {
			in.Signals[i] = vector.Continue
			if err := choose(in, &c.spec, i, out.Mask(i), c.actions[i%len(c.actions)]); err != nil {
				return err
			}
		}
		return f(env, in, &out)
	})
}

// attempt makes a step that should fail with the sentinel, because of one lane.
func (c *vectorCheck) attempt(env vector.Environment, in *vector.Actions, out *vector.TimeSteps, rule Rule, sentinel error, lane int) {
	err := vector.Guard(func() error { return env.Step(c.ctx, in, out) })
	c.try(rule, wants(err, sentinel))
	if !errors.Is(err, sentinel) {
		return
	}
	var named *vector.LaneError
	c.holds(NamesLane, errors.As(err, &named) && named.Lane == lane, "lane %d is to blame, the error is %w", lane, err)
}

func (c *vectorCheck) needsResetFirst() error {
	return c.started(lanes, 1, func(env vector.Environment, in *vector.Actions, out *vector.TimeSteps) error {
		c.attempt(env, in, out, NeedsResetFirst, framework.ErrNeedsReset, 1)
		return nil
	})
}

// refuses tries actions outside the action space in one of the lanes.
func (c *vectorCheck) refuses() error {
	for _, bad := range outside(c.spec.Action) {
		err := c.started(lanes, -1, func(env vector.Environment, in *vector.Actions, out *vector.TimeSteps) error {
			if err := in.Actions.Set(c.spec.Action, 1, bad); err != nil {
				return err
			}
			c.attempt(env, in, out, InvalidAction, framework.ErrInvalidAction, 1)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// endOfEpisode steps until an episode ends in one of many lanes, and then once
// more.
func (c *vectorCheck) endOfEpisode() error {
	many := c.size.many
	if c.spec.Continuing {
		return nil
	}
	return c.started(many, -1, func(env vector.Environment, in *vector.Actions, out *vector.TimeSteps) error {
		k := 0
		for ; k < maxSteps && (k < patience || !c.bounds.over()); k++ {
			for i := range many { // every lane begins elsewhere among the actions
				a := c.actions[(k+i*len(c.actions)/many)%len(c.actions)]
				if err := choose(in, &c.spec, i, out.Mask(i), a); err != nil {
					return err
				}
			}
			if err := env.Step(c.ctx, in, out); err != nil {
				return err
			}
			c.judge(vector.Continue, out, 0)
			for i := range many {
				if out.Terminated[i] || out.Truncated[i] {
					c.attempt(env, in, out, NeedsResetAfter, framework.ErrNeedsReset, i)
					return nil
				}
			}
		}
		longer := ""
		if k < maxSteps {
			longer = "more time, "
		}
		c.fail(NeedsResetAfter, fmt.Errorf("%w: no episode ended within %d steps of %d lanes; give %sactions that end one, a limit on the steps of an episode (max_episode_steps of Gymnasium's environments), or a spec that says Continuing", ErrUntried, k, many, longer))
		return nil
	})
}

// models checks the models of an environment that has them.
func (c *vectorCheck) models() error {
	return c.started(lanes, -1, func(env vector.Environment, _ *vector.Actions, _ *vector.TimeSteps) error {
		read := env.Abilities().Models
		if read == nil {
			return nil
		}
		models, err := read(c.ctx)
		if err == nil && len(models) != lanes {
			err = fmt.Errorf("%d models for %d lanes", len(models), lanes)
		}
		for i := 0; err == nil && i < lanes; i++ {
			m := models[i]
			if m == nil {
				err = fmt.Errorf("lane %d has no model", i)
				break
			}
			if d, ok := c.spec.Action.(space.Discrete); ok && int64(m.NumActions()) != d.N {
				err = fmt.Errorf("lane %d: a model of %d actions for %d", i, m.NumActions(), d.N)
			}
			for s := range m.NumStates() {
				for a := 0; a < m.NumActions() && !m.Terminal(s); a++ {
					r := m.Reward(s, a)
					slack := 1e-9 * max(1, math.Abs(r))
					if r < c.spec.RewardLow-slack || r > c.spec.RewardHigh+slack {
						err = fmt.Errorf("lane %d: the model's reward of state %d and action %d is %v, outside [%v, %v]", i, s, a, r, c.spec.RewardLow, c.spec.RewardHigh)
					}
				}
			}
		}
		c.try(ModelFits, err)
		return nil
	})
}

package rltest

import (
	"errors"
	"fmt"

	"github.com/rlrun/rlrun/framework"
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

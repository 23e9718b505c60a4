package rltest

import (
	"context"
	"errors"
	"fmt"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// checkActors checks two runs of an agent with several actors each: neither depends on the other, and what one saves can be
// loaded where a run has one actor. one is the spec for that.
func (b Bounds) checkActors(ctx context.Context, open func(spec framework.Spec, lanes int) (vector.Agent, error), one framework.Spec, actors int) error {
	const runs = 2
	spec := one
	spec.Actors = actors
	c := &agentCheck{ctx: ctx, bounds: b.begun(1), size: b.size(), spec: spec}
	c.open = func(lanes int) (vector.Agent, error) { return open(spec, lanes) }
	c.bounds.tell(fmt.Sprintf("%s: %d actors", spec.ID, actors))
	part := func() error {
		var scripts [][]event
		for k := range runs * actors {
			scripts = append(scripts, c.script(uint64(k+1)))
		}
		together, err := c.play(scripts, 0, false)
		for run := 0; run < runs && err == nil; run++ {
			first := run * actors
			var alone [][]string
			if alone, err = c.play(scripts[first:first+actors], 0, false); err == nil {
				for k := range actors {
					c.try(LanesIndependent, differ(alone[k], together[first+k], fmt.Sprintf("actor %d of %d in run %d of %d, against the same run alone", k, actors, run, runs)))
				}
			}
		}
		if err == nil {
			err = c.fewer(open, one, scripts[:actors])
		}
		return err
	}
	c.try(Works, vector.Guard(func() error { return c.bounds.inTime(&c.size, part) }))
	return c.result(Works, LanesIndependent)
}

// fewer saves a run with several actors, and loads it where a run has one.
func (c *agentCheck) fewer(open func(spec framework.Spec, lanes int) (vector.Agent, error), one framework.Spec, scripts [][]event) error {
	agent, err := c.open(len(scripts))
	if err != nil {
		return err
	}
	in, actions := vector.NewFeedback(c.spec, len(scripts)), space.NewColumn(c.spec.Action, len(scripts))
	for call := 0; call < 2 && err == nil; call++ {
		for k := range scripts {
			err = errors.Join(err, scripts[k][call].tell(in, &c.spec, k))
		}
		if err == nil {
			err = agent.Step(c.ctx, in, &actions)
		}
	}
	if err != nil || !vector.Storable(agent) {
		return errors.Join(err, agent.Close())
	}
	state, err := vector.Save(c.ctx, agent, 0)
	if err = errors.Join(err, agent.Close()); err != nil {
		c.try(RoundTrips, fmt.Errorf("saving: %w", err))
		return nil
	}
	if agent, err = open(one, 1); err != nil {
		return err
	}
	if err := vector.Load(c.ctx, agent, 0, state); err != nil {
		c.try(RoundTrips, fmt.Errorf("loading the state of %d actors into a run with one: %w", len(scripts), err))
	} else {
		begin := scripts[0][:1]
		begin[0].signal = vector.NewEpisode
		_, err = c.feed(agent, 1, 0, begin)
		c.try(RoundTrips, err)
	}
	return agent.Close()
}

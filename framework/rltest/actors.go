package rltest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// checkActors checks two runs of an agent with several actors each. Neither depends on the other. A saved run goes on as the
// run itself does, and can be loaded where a run has one actor; one is the spec for that.
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
			err = c.savedActors(open, one, scripts[:actors])
		}
		return err
	}
	c.try(Works, vector.Guard(func() error { return c.bounds.inTime(&c.size, part) }))
	return c.result(Works, LanesIndependent)
}

// goOn plays calls of the scripts from one on, up to another, and logs the actions.
func (c *agentCheck) goOn(agent vector.Agent, scripts [][]event, from, to int) ([][]string, error) {
	n := len(scripts)
	in, actions, logs := vector.NewFeedback(c.spec, n), space.NewColumn(c.spec.Action, n), make([][]string, n)
	for call := from; call < to; call++ {
		for k := range scripts {
			if err := scripts[k][call].tell(in, &c.spec, k); err != nil {
				return nil, err
			}
		}
		before := columnEntries(&actions, n)
		if err := agent.Step(c.ctx, in, &actions); err != nil {
			return nil, err
		}
		c.judge(in, &actions, before, logs)
	}
	return logs, nil
}

// savedActors saves a run with several actors, lets it go on, and loads it where a run has one.
func (c *agentCheck) savedActors(open func(spec framework.Spec, lanes int) (vector.Agent, error), one framework.Spec, scripts [][]event) error {
	agent, err := c.open(len(scripts))
	if err != nil {
		return err
	}
	calls := len(slices.MinFunc(scripts, func(a, b []event) int { return len(a) - len(b) }))
	if _, err := c.goOn(agent, scripts, 0, calls/2); err != nil || !vector.Storable(agent) {
		return errors.Join(err, agent.Close())
	}
	state, err := vector.Save(c.ctx, agent, 0)
	if err != nil {
		c.try(RoundTrips, fmt.Errorf("saving: %w", err))
		return agent.Close()
	}
	want, err := c.goOn(agent, scripts, calls/2, calls)
	if err = errors.Join(err, agent.Close()); err != nil {
		return err
	}
	if agent, err = c.open(len(scripts)); err != nil {
		return err
	}
	if err = vector.Load(c.ctx, agent, 0, state); err == nil {
		var got [][]string
		if got, err = c.goOn(agent, scripts, calls/2, calls); err == nil {
			for k := range got {
				err = errors.Join(err, differ(want[k], got[k], fmt.Sprintf("actor %d of %d after the run was saved and loaded", k, len(got))))
			}
		}
	}
	c.try(RoundTrips, errors.Join(err, agent.Close()))
	if agent, err = open(one, 1); err != nil {
		return err
	}
	if err := vector.Load(c.ctx, agent, 0, state); err != nil {
		c.try(RoundTrips, fmt.Errorf("loading the state of %d actors into a run with one: %w", len(scripts), err))
	} else {
		begin := [][]event{scripts[0][:1]}
		begin[0][0].signal = vector.NewEpisode
		_, err = c.goOn(agent, begin, 0, 1)
		c.try(RoundTrips, err)
	}
	return agent.Close()
}

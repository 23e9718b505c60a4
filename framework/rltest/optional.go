package rltest

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math/rand/v2"
	"slices"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// pictures compares a run that is drawn before every step, as text and as a frame, with the
// same run without drawing. Environments that cannot be rendered pass.
func (c *vectorCheck) pictures() error {
	var seen frames
	return c.unmoved(RenderChangesNothing, "rendered before every step", func(env vector.Environment) error { return c.look(env, &seen) })
}

// measures compares a run whose metrics are read before every step with the same run
// without. Environments without metrics of their own pass.
func (c *vectorCheck) measures() error {
	return c.unmoved(MeasureChangesNothing, "measured before every step", func(env vector.Environment) error {
		m := env.Abilities().Measures
		if m == nil {
			return framework.ErrUnsupported
		}
		c.try(MeasureChangesNothing, readAll(c.ctx, m, 1))
		return nil
	})
}

// readAll reads the metrics of the first lanes.
func readAll(ctx context.Context, m *vector.Measures, lanes int) error {
	all := make([]int, lanes)
	for i := range all {
		all[i] = i
	}
	return m.Read(ctx, all, make([]float64, lanes*len(m.Metrics)))
}

// unmoved compares a run that is watched before every step with the same run alone. It
// passes if watch returns framework.ErrUnsupported.
func (c *vectorCheck) unmoved(rule Rule, what string, watch func(vector.Environment) error) error {
	play := func(watched bool) (log []string, err error) {
		err = c.started(1, -1, func(env vector.Environment, in *vector.Actions, out *vector.TimeSteps) error {
			for k := range c.size.calls {
				if err := c.bounds.late(c.size); err != nil {
					return err
				}
				if watched {
					if err := watch(env); err != nil {
						return err
					}
				}
				if err := env.Step(c.ctx, in, out); err != nil {
					return err
				}
				log = append(log, lanesOf(out, 1)...)
				in.Signals[0] = vector.Continue
				if out.Terminated[0] || out.Truncated[0] {
					in.Signals[0], in.Seeds[0] = vector.NewEpisode, uint64(k)
				}
				if err := choose(in, &c.spec, 0, out.Mask(0), c.actions[k%len(c.actions)]); err != nil {
					return err
				}
			}
			return nil
		})
		return log, err
	}
	if !c.sound(SameSeedSameEpisode) {
		return nil
	}
	seen, err := play(true)
	if errors.Is(err, framework.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return err
	}
	unseen, err := play(false)
	if err == nil {
		c.try(rule, differ(unseen, seen, what))
	}
	return err
}

// maxFrames is how many frames of an environment are looked at: they take longer than steps.
const maxFrames = 24

// frames are those that have been looked at: how many, and the size of the last.
type frames struct {
	number int
	size   image.Point
}

// look renders the lane as text and, a few times, as a frame. The error wraps
// framework.ErrUnsupported if the environment does neither.
func (c *vectorCheck) look(env vector.Environment, seen *frames) error {
	_, noText := vector.Render.Ask(c.ctx, env, 0)
	if !errors.Is(noText, framework.ErrUnsupported) {
		c.try(RenderChangesNothing, noText)
		noText = nil
	}
	if seen.number == maxFrames {
		return nil
	}
	frame, err := vector.RenderFrame.Ask(c.ctx, env, 0)
	if errors.Is(err, framework.ErrUnsupported) {
		return noText
	}
	if err == nil && seen.number > 0 && seen.size != frame.Rect.Max {
		err = fmt.Errorf("a frame has %v pixels, an earlier one %v", frame.Rect.Max, seen.size)
	}
	c.try(RenderChangesNothing, err)
	if err == nil {
		seen.number, seen.size = seen.number+1, frame.Rect.Max
	}
	return nil
}

// evaluation changes the rewards that an agent meets while learning is off, for a
// stretch of a run.
func (c *agentCheck) evaluation(script []event) error {
	var logs [2][]string
	for version := range logs {
		s := slices.Clone(script)
		rng := rand.New(rand.NewPCG(uint64(version), 5))
		for k := len(s) / 4; k < len(s)/2; k++ {
			if s[k].signal == vector.Continue {
				s[k].signal, s[k].reward = vector.Evaluate, reward(&c.spec, rng)
			}
		}
		log, err := c.play([][]event{s}, 0, false)
		if err != nil {
			return err
		}
		logs[version] = log[0]
	}
	c.try(LearningOff, differ(logs[0], logs[1], "other rewards in calls with the signal Evaluate"))
	return nil
}

// measures compares a run whose metrics are read after every call with the same run
// without. Agents without metrics of their own pass.
func (c *agentCheck) measures(script []event, want []string) error {
	agent, err := c.open(1)
	if err != nil {
		return err
	}
	measures := agent.Abilities().Measures
	if err := agent.Close(); err != nil || measures == nil {
		return err
	}
	c.measured = true
	got, err := c.play([][]event{script}, 0, false)
	c.measured = false
	if err == nil {
		c.try(MeasureChangesNothing, differ(want, got[0], "measured after every call"))
	}
	return err
}

// checkpoint saves a lane in the middle of a run and lets other lanes go on from
// there: a fresh one, and one that has had another run. The lane that was saved, and
// those beside it, go on as if nothing had happened. Agents that cannot be saved and
// loaded pass.
func (c *agentCheck) checkpoint(script, other []event) error {
	if has, err := storable(c); err == nil && !has {
		return nil
	}
	half := len(script) / 2
	before, after := [][]event{other[:half], script[:half]}, [][]event{other[half:], script[half:]}
	want, err := c.halves(before, nil, after)
	if err != nil {
		return err
	}
	var state []byte
	var failed error
	got, err := c.halves(before, func(agent vector.Agent) { state, failed = vector.Save(c.ctx, agent, 1) }, after)
	if failed != nil {
		c.try(RoundTrips, fmt.Errorf("saving: %w", failed))
		return nil
	}
	if err != nil {
		return err
	}
	c.try(RoundTrips, differ(want[1], got[1], "a lane that was saved"))
	c.try(RoundTrips, differ(want[0], got[0], "a lane beside one that was saved"))
	after[0], after[1] = after[1], after[0]
	for name, before := range map[string][][]event{"a fresh lane": {nil, other[:half]}, "a lane that has had another run": {other[:half], other[:half]}} {
		var failed error
		got, err := c.halves(before, func(agent vector.Agent) {
			given := slices.Clone(state)
			failed = vector.Load(c.ctx, agent, 0, given)
			for i := range given { // it does not keep the slice
				given[i] ^= 0xff
			}
		}, after)
		if failed != nil {
			c.try(RoundTrips, fmt.Errorf("loading into %s: %w", name, failed))
			continue
		}
		if err != nil {
			return err
		}
		c.try(RoundTrips, differ(want[1], got[0], name+" with the saved state"))
		c.try(RoundTrips, differ(want[0], got[1], "a lane beside "+name+" with the saved state"))
	}
	return nil
}

// halves feeds every lane its events before and its events after the middle, at which it
// calls a function, and logs what lanes do and measure after the middle.
func (c *agentCheck) halves(before [][]event, middle func(vector.Agent), after [][]event) ([][]string, error) {
	n := len(before)
	agent, err := c.open(n)
	if err != nil {
		return nil, err
	}
	logs := make([][]string, n)
	for lane := range n {
		if err == nil {
			_, err = c.feed(agent, n, lane, before[lane])
		}
	}
	if middle != nil && err == nil {
		middle(agent)
	}
	for lane := range n {
		if err == nil {
			logs[lane], err = c.feedAndMeasure(agent, n, lane, after[lane])
		}
	}
	return logs, errors.Join(err, agent.Close())
}

// feed tells one lane of n the given events, leaves the others idle, and logs the
// lane's actions.
func (c *agentCheck) feed(agent vector.Agent, n, lane int, events []event) (log []string, err error) {
	in, actions := vector.NewFeedback(c.spec, n), space.NewColumn(c.spec.Action, n)
	for _, e := range events {
		if err := c.bounds.late(c.size); err != nil {
			return nil, err
		}
		if err := e.tell(in, &c.spec, lane); err != nil {
			return nil, err
		}
		if err := agent.Step(c.ctx, in, &actions); err != nil {
			return nil, err
		}
		if !e.terminated && !e.truncated {
			log = append(log, columnEntries(&actions, n)[lane])
		}
	}
	return log, nil
}

// feedAndMeasure is feed, and logs the lane's metrics at the end.
func (c *agentCheck) feedAndMeasure(agent vector.Agent, n, lane int, events []event) ([]string, error) {
	log, err := c.feed(agent, n, lane, events)
	if m := agent.Abilities().Measures; m != nil && err == nil {
		values := make([]float64, len(m.Metrics))
		if failed := m.Read(c.ctx, []int{lane}, values); failed == nil { // another rule is of errors
			log = append(log, fmt.Sprint("metrics ", values))
		}
	}
	return log, err
}

// storable says whether the lanes of an agent can be saved and loaded.
func storable(c *agentCheck) (bool, error) {
	agent, err := c.open(1)
	if err != nil {
		return false, err
	}
	_, err = c.feed(agent, 1, 0, c.script(1)[:1])
	if err == nil {
		var state []byte
		if state, err = vector.Save(c.ctx, agent, 0); err == nil {
			err = vector.Load(c.ctx, agent, 0, state)
		}
		if errors.Is(err, framework.ErrUnsupported) {
			return false, agent.Close()
		}
	}
	return true, errors.Join(err, agent.Close())
}

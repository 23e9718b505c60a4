package rltest

import (
	"time"

	"github.com/rlrun/rlrun/framework/vector"
)

// Bounds limit a check, and tell how far it is. With the zero value it takes as long
// as it takes.
type Bounds struct {
	// Time is about how long a check may take. If the plugin is slow, each comparison
	// has fewer steps, but not fewer than 20. 0: no limit.
	Time time.Duration
	// Lanes is the largest number of lanes that are opened together, at least 3; 0: 16.
	Lanes int
	// Progress, if not nil, is told what is checked next, in a few words.
	Progress func(what string)
}

// What is compared if time allows, and at least.
const (
	calls      = 150 // that every lane gets in a comparison
	fewest     = 20
	fewestEnds = 100 // steps in which an episode should end, before time counts
)

// size is how much is compared.
type size struct {
	calls int // that every lane gets
	many  int // lanes in which it should
}

func (b Bounds) size() size {
	s := size{calls: calls, many: 16}
	if b.Lanes > 0 {
		s.many = min(s.many, max(lanes, b.Lanes))
	}
	return s
}

// fit returns the size that takes at most half of a time: opening takes open and happens
// comparisons times, a call takes call and happens comparisons times a lane's calls. The
// other half is left for the end of an episode.
func (s size) fit(limit, open, call time.Duration, comparisons int) size {
	if limit <= 0 || call <= 0 {
		return s
	}
	left := max(0, limit-time.Duration(comparisons)*open)
	possible := int(left / 2 / call)
	s.calls = min(s.calls, max(fewest, possible/comparisons))
	return s
}

// tell says what is checked next.
func (b Bounds) tell(what string) {
	if b.Progress != nil {
		b.Progress(what)
	}
}

// About how many comparisons a check makes.
const (
	environmentComparisons = 24
	agentComparisons       = 32
)

// measure fits the size of the check to its time.
func (c *vectorCheck) measure() error {
	if c.bounds.Time <= 0 {
		return nil
	}
	begin := time.Now()
	var opened, called time.Duration
	const tried = 4
	err := c.with(1, func(env vector.Environment) error {
		opened = time.Since(begin)
		in, out := vector.NewActions(c.spec, 1), vector.NewTimeSteps(c.spec, 1)
		for k := range tried {
			in.Signals[0], in.Seeds[0] = vector.NewRun, uint64(k)
			if k > 0 && !out.Terminated[0] && !out.Truncated[0] {
				in.Signals[0] = vector.Continue
			}
			if err := in.Actions.Set(c.spec.Action, 0, c.actions[k%len(c.actions)]); err != nil {
				return err
			}
			if err := env.Step(c.ctx, in, &out); err != nil {
				return nil // the check itself says so
			}
		}
		called = (time.Since(begin) - opened) / tried
		return nil
	})
	c.size = c.size.fit(c.bounds.Time, opened, called, environmentComparisons)
	return err
}

// measure fits the size of the check to its time.
func (c *agentCheck) measure() {
	if c.bounds.Time <= 0 {
		return
	}
	begin := time.Now()
	agent, err := c.open(1)
	if err != nil {
		return // the check itself says so
	}
	opened := time.Since(begin)
	const tried = 6
	_, err = c.feed(agent, 1, 0, c.script(1)[:tried])
	called := (time.Since(begin) - opened) / tried
	if agent.Close() == nil && err == nil {
		c.size = c.size.fit(c.bounds.Time, opened, called, agentComparisons)
	}
}

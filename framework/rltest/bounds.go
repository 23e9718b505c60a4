package rltest

import (
	"errors"
	"time"

	"github.com/rlrun/rlrun/framework/vector"
)

// Bounds limit a check, and tell how far it is. With the zero value it takes as long
// as it takes.
type Bounds struct {
	// Time is about how long a check may take; 0: no limit. If the plugin is slow, each
	// comparison has fewer steps. After Time, the remaining rules are compared in their
	// smallest form, with 6 steps. Every rule is tested, so a check has at least about
	// 250 calls, and for an agent these for each spec. The end of an episode is waited
	// for until Time is over, and for 1,000 steps at least.
	Time time.Duration
	// Lanes is the largest number of lanes that are opened together, at least 3; 0: 16.
	Lanes int
	// Progress, if not nil, is called with a few words before each part of the check.
	Progress func(what string)

	end time.Time // of Time, once the check has begun
}

// begun is the bounds of a check that begins now and has one of so many equal parts of
// the time that is left.
func (b Bounds) begun(parts int) Bounds {
	if b.Time <= 0 {
		return b
	}
	now := time.Now()
	if b.end.IsZero() {
		b.end = now.Add(b.Time)
	}
	b.Time = max(1, b.end.Sub(now)/time.Duration(parts))
	b.end = now.Add(b.Time)
	return b
}

// over is whether the time is.
func (b *Bounds) over() bool { return !b.end.IsZero() && !time.Now().Before(b.end) }

// errLate ends a part of a check for which the time was too short. It is tried again in
// its smallest form.
var errLate = errors.New("the time is over")

// late returns errLate when the time is over, except in the smallest form.
func (b *Bounds) late(s size) error {
	if s == smallest || !b.over() {
		return nil
	}
	return errLate
}

// inTime makes a part of a check, in the smallest form if time ends it.
func (b *Bounds) inTime(s *size, part func() error) error {
	err := part()
	if errors.Is(err, errLate) {
		*s = smallest
		err = part()
	}
	return err
}

// What is compared if time allows.
const calls = 150 // that every lane gets in a comparison

// patience is how many steps are made at least for an episode to end.
const patience = 1000

// size is how much is compared.
type size struct {
	calls int // that every lane gets
	many  int // lanes in one of which an episode should end; a slow plugin has one
}

// smallest is what every rule needs.
var smallest = size{calls: 6, many: 1}

func (b Bounds) size() size {
	s := size{calls: calls, many: 16}
	if b.Lanes > 0 {
		s.many = min(s.many, max(lanes, b.Lanes))
	}
	return s
}

// fit returns the size that takes at most half of a time: opening a lane takes open, a call
// of a lane takes call. Both happen comparisons times, calls for each of a lane's calls.
// The other half is left for the end of an episode.
func (s size) fit(limit, open, call time.Duration, comparisons int) size {
	if limit <= 0 || call <= 0 {
		return s
	}
	left := max(0, limit-time.Duration(comparisons)*open)
	possible := int(left / 2 / call)
	if possible/comparisons < s.calls {
		s.calls, s.many = max(smallest.calls, possible/comparisons), 1
	}
	return s
}

// tell says what is checked next.
func (b Bounds) tell(what string) {
	if b.Progress != nil {
		b.Progress(what)
	}
}

// About how many lanes a check compares.
const (
	environmentComparisons = 36
	agentComparisons       = 36
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
			if err := choose(in, &c.spec, 0, out.Mask(0), c.actions[k%len(c.actions)]); err != nil {
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

package rltest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// checkVectorAgent checks lanes of an agent for environments as spec describes them. open
// makes fresh ones.
func (b Bounds) checkVectorAgent(ctx context.Context, open func(lanes int) (vector.Agent, error), spec framework.Spec) error {
	if err := spec.Validate(); err != nil {
		return fmt.Errorf("rltest: %w", err)
	}
	c := &agentCheck{ctx: ctx, bounds: b.begun(1), size: b.size(), spec: spec}
	c.open = func(lanes int) (vector.Agent, error) {
		if err := c.bounds.late(c.size); err != nil {
			return nil, err
		}
		return open(lanes)
	}
	if err := vector.Guard(func() error { c.measure(); return nil }); err != nil {
		c.size = b.size() // the check itself says why
	}
	return c.result(c.all()...)
}

// all checks lanes, and returns the rules that should have been tried.
func (c *agentCheck) all() []Rule {
	c.try(Works, vector.Guard(func() error { return c.bounds.inTime(&c.size, c.run) }))
	rules := agentRules()
	if c.spec.Masks {
		rules = append(rules, ActionAllowed)
	}
	has := false
	c.try(Works, vector.Guard(func() error {
		return c.bounds.inTime(&c.size, func() (err error) {
			has, err = c.options()
			return err
		})
	}))
	if has {
		rules = append(rules, optionRules()...)
	}
	return rules
}

func agentRules() []Rule {
	return []Rule{
		Works, ActionInSpace, SameSeedSameActions, NewRunForgets, NewEpisodeTeachesNothing,
		InputUnchanged, FillsColumns, IdleUntouched, LanesIndependent, LearningOff,
	}
}

// agentCheck checks lanes of an agent.
type agentCheck struct {
	report
	ctx    context.Context
	bounds Bounds
	size   size
	open   func(lanes int) (vector.Agent, error)
	spec   framework.Spec

	measured bool // metrics are read after every call
	moves    bool // a run that decides goes on in fresh lanes, now and then
}

// event is what one call tells a lane.
type event struct {
	signal                vector.Signal
	seed                  uint64
	observation           space.Value
	reward                float64
	terminated, truncated bool
	mask                  []bool // nil without masks
}

// tell writes the event into a lane.
func (e *event) tell(in *vector.Feedback, spec *framework.Spec, lane int) error {
	in.Signals[lane], in.Seeds[lane], in.Rewards[lane], in.Terminated[lane], in.Truncated[lane] = e.signal, e.seed, e.reward, e.terminated, e.truncated
	copy(in.Mask(lane), e.mask)
	return in.Observations.Set(spec.Observation, lane, e.observation)
}

// script draws the feedback of one run: observations from their space, rewards
// within the spec's bounds, and ends of episodes unless the spec says Continuing.
func (c *agentCheck) script(number uint64) []event {
	rng := rand.New(rand.NewPCG(number, 2))
	events := []event{{signal: vector.NewRun, seed: number}}
	ended := false
	for range c.size.calls {
		e := event{signal: vector.Continue}
		switch {
		case ended:
			e.signal = vector.NewEpisode
		default:
			e.reward = reward(&c.spec, rng)
			if !c.spec.Continuing {
				e.terminated, e.truncated = rng.IntN(10) == 0 || len(events) == 2, rng.IntN(20) == 0 // the smallest form has an end
			}
		}
		ended = e.terminated || e.truncated
		events = append(events, e)
	}
	for k := range events {
		events[k].observation = space.Sample(c.spec.Observation, rng)
	}
	if actions, ok := c.spec.Action.(space.Discrete); ok && c.spec.Masks {
		for k := range events {
			mask := make([]bool, actions.N)
			for a := range mask {
				mask[a] = rng.IntN(2) == 0
			}
			mask[rng.IntN(len(mask))] = true
			events[k].mask = mask
		}
	}
	return events
}

// reward draws one of the bounds where both are known: every agent that fits the
// bounds can learn from those.
func reward(spec *framework.Spec, rng *rand.Rand) float64 {
	switch low, high := spec.RewardLow, spec.RewardHigh; {
	case math.IsInf(low, 0) && math.IsInf(high, 0):
		return rng.NormFloat64()
	case math.IsInf(low, 0):
		return high - rng.ExpFloat64()
	case math.IsInf(high, 0):
		return low + rng.ExpFloat64()
	case rng.IntN(2) == 0:
		return low
	default:
		return high
	}
}

func (c *agentCheck) run() error {
	c.bounds.tell(c.spec.ID + ": lanes together and alone")
	scripts := [][]event{c.script(1), c.script(2), c.script(3)}
	together, err := c.play(scripts, 0, true)
	if err != nil {
		return err
	}
	alone, err := c.alone(comparison{SameSeedSameActions, "the same seed and feedback again", "with other values in the caller's columns", "lane"}, together,
		func(lane int, dirty bool) ([][]string, error) {
			return c.play(scripts[lane:lane+1], salted(dirty), false)
		})
	if err != nil {
		return err
	}
	if !c.sound(SameSeedSameActions, FillsColumns) {
		return nil
	}
	both, err := c.play([][]event{slices.Concat(scripts[0], scripts[1])}, 0, false)
	if err != nil {
		return err
	}
	c.try(NewRunForgets, differ(alone[1], both[0][len(scripts[0]):], "a run after another run, against the run alone"))
	c.bounds.tell(c.spec.ID + ": episodes, evaluation and saving")
	if err := c.newEpisodes(scripts[0], alone[0]); err != nil {
		return err
	}
	if err := c.evaluation(scripts[0]); err != nil {
		return err
	}
	if err := c.measures(scripts[0], alone[0]); err != nil {
		return err
	}
	return c.checkpoint(scripts[0], scripts[1])
}

// salted is the salt of what the caller's columns hold beforehand.
func salted(dirty bool) uint64 {
	if dirty {
		return 1
	}
	return 0
}

// newEpisodes changes what calls that start an episode say beside the observation.
func (c *agentCheck) newEpisodes(script []event, want []string) error {
	misled := slices.Clone(script)
	for k := range misled {
		if misled[k].signal != vector.Continue {
			misled[k].reward, misled[k].terminated, misled[k].truncated = reward(&c.spec, rand.New(rand.NewPCG(uint64(k), 4))), k%2 == 1, k%3 == 0
		}
	}
	got, err := c.play([][]event{misled}, 0, false)
	if err != nil {
		return err
	}
	c.try(NewEpisodeTeachesNothing, differ(want, got[0], "other rewards and flags in calls that start an episode"))
	return nil
}

// play opens a lane a script and logs the actions. What the caller's columns hold
// beforehand depends on salt. With idle, lanes are left out now and then.
func (c *agentCheck) play(scripts [][]event, salt uint64, idle bool) ([][]string, error) {
	n := len(scripts)
	agent, err := c.open(n)
	if err != nil {
		return nil, err
	}
	logs, at := make([][]string, n), make([]int, n)
	pause := rand.New(rand.NewPCG(99, 0))
	for call := 0; ; call++ {
		if err := c.bounds.late(c.size); err != nil {
			return nil, errors.Join(err, agent.Close())
		}
		in, actions := vector.NewFeedback(c.spec, n), space.NewColumn(c.spec.Action, n)
		done := true
		for i, s := range scripts {
			rng := rand.New(rand.NewPCG(salt+2*uint64(call), uint64(i)))
			soilColumn(&actions, i, rng)
			done = done && at[i] == len(s)
			if at[i] == len(s) || idle && pause.IntN(4) == 0 {
				in.Signals[i], in.Rewards[i], in.Terminated[i] = vector.Idle, math.NaN(), true
				soilColumn(&in.Observations, i, rng)
				continue
			}
			if err := s[at[i]].tell(in, &c.spec, i); err != nil {
				return nil, err
			}
			at[i]++
		}
		if done {
			break
		}
		before, given := columnEntries(&actions, n), fmt.Sprint(in)
		if err := agent.Step(c.ctx, in, &actions); err != nil {
			return nil, fmt.Errorf("call %d with signals %v: %w", call, in.Signals, err)
		}
		now := fmt.Sprint(in)
		c.holds(InputUnchanged, now == given, "call %d changed its input from %s to %s", call, given, now)
		if actions.Lanes() != n {
			return nil, fmt.Errorf("call %d: a column of %d actions for %d lanes", call, actions.Lanes(), n)
		}
		c.judge(in, &actions, before, logs)
		if c.measured {
			c.try(MeasureChangesNothing, readAll(c.ctx, agent.Abilities().Measures, n))
		}
	}
	return logs, agent.Close()
}

// judge checks and logs the actions of one call.
func (c *agentCheck) judge(in *vector.Feedback, actions *space.Column, before []string, logs [][]string) {
	for i, now := range columnEntries(actions, len(in.Signals)) {
		switch {
		case in.Signals[i] == vector.Idle:
			c.holds(IdleUntouched, now == before[i], "lane %d was idle and its action went from %s to %s", i, before[i], now)
		case (in.Signals[i] == vector.Continue || in.Signals[i] == vector.Evaluate) && (in.Terminated[i] || in.Truncated[i]):
			logs[i] = append(logs[i], "none: the episode ended")
		default:
			c.inSpace(ActionInSpace, in, actions, i)
			logs[i] = append(logs[i], now)
		}
	}
}

// inSpace checks that the action of a lane is in its space, and allowed.
func (c *agentCheck) inSpace(rule Rule, in *vector.Feedback, actions *space.Column, i int) bool {
	err := c.spec.Action.Check(actions, i)
	c.try(rule, err)
	mask := in.Mask(i)
	if err == nil && mask != nil {
		a := actions.Int64[i]
		c.holds(ActionAllowed, mask[a-c.spec.Action.(space.Discrete).Start], "lane %d: action %d, and the mask is %v", i, a, mask)
	}
	return err == nil
}

// columnEntries describes every lane's value, bit for bit.
func columnEntries(c *space.Column, n int) []string {
	data := c.AppendBytes(nil)
	width := len(data) / n
	entries := make([]string, n)
	for i := range n {
		entries[i] = fmt.Sprintf("%x", data[i*width:(i+1)*width])
	}
	return entries
}

package rltest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// lanes of the batches that are checked.
const lanes = 3

// checkVectorEnvironment checks lanes of an environment. open makes fresh ones at every call.
func (b Bounds) checkVectorEnvironment(ctx context.Context, open func(lanes int) (vector.Environment, error)) error {
	b = b.begun(1)
	env, err := open(1)
	if err != nil {
		return fmt.Errorf("rltest: no environment to check: %w", err)
	}
	defer env.Close()
	var r report
	spec, err := specOf(env.Spec)
	if err != nil {
		r.fail(SpecValid, err)
		return r.result()
	}
	c := &vectorCheck{ctx: ctx, bounds: b, size: b.size(), open: open, actions: drawn(&spec)}
	c.try(Works, vector.Guard(c.run))
	return c.result(vectorRules(&spec)...)
}

// vectorRules are the rules that are tried of lanes with a given spec.
func vectorRules(spec *framework.Spec) []Rule {
	rules := []Rule{
		Works, SpecValid, SpecConstant, ObservationInSpace, FiniteReward, RewardInBounds, SameSeedSameEpisode, NeedsResetFirst,
		NeedsResetAfter, InvalidAction, ReturnsOwnSlices, InputUnchanged, NewEpisodeIsClean, FillsColumns,
		IdleUntouched, LanesIndependent, NamesLane,
	}
	if spec.Masks {
		rules = append(rules, MaskAllows)
	}
	if spec.Continuing {
		rules[slices.Index(rules, NeedsResetAfter)] = EndsNever
	}
	if len(outside(spec.Action)) == 0 {
		rules = slices.DeleteFunc(rules, func(r Rule) bool { return r == InvalidAction })
	}
	return rules
}

// vectorCheck checks lanes.
type vectorCheck struct {
	report
	ctx     context.Context
	bounds  Bounds
	size    size
	open    func(lanes int) (vector.Environment, error)
	spec    framework.Spec
	actions []space.Value
}

func (c *vectorCheck) run() error {
	env, err := c.open(1)
	if err != nil {
		return err
	}
	if c.spec, err = specOf(env.Spec); err != nil {
		return err
	}
	c.try(SpecValid, nil)
	if err := env.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	if err := c.bounds.inTime(&c.size, c.measure); err != nil {
		return err
	}
	for _, part := range []struct {
		what  string
		check func() error
	}{
		{"lanes together and alone", c.lanes}, {"a step before the first reset", c.needsResetFirst}, {"actions outside the space", c.refuses},
		{"models", c.models}, {"pictures", c.pictures}, {"metrics", c.measures}, {"the end of an episode", c.endOfEpisode},
	} {
		c.bounds.tell(part.what)
		if err := c.bounds.inTime(&c.size, part.check); err != nil {
			return err
		}
	}
	return nil
}

// lanes compares each lane of a batch, which idles now and then, with the same
// calls made alone.
func (c *vectorCheck) lanes() error {
	together, err := c.drive(lanes, 0, false, true)
	if err != nil {
		return err
	}
	_, err = c.alone(comparison{SameSeedSameEpisode, "the same seeds and actions again", "with other values in the caller's columns", "lane"}, together,
		func(lane int, dirty bool) ([][]string, error) { return c.drive(1, lane, dirty, false) })
	if err != nil {
		return err
	}
	if c.sound(SameSeedSameEpisode) {
		return c.restarts()
	}
	return nil
}

// sound reports whether none of the rules has been broken, so that what depends
// on them can be judged.
func (r *report) sound(rules ...Rule) bool {
	return !slices.ContainsFunc(r.violations, func(v *Violation) bool { return slices.Contains(rules, v.Rule) })
}

// restarts compares a run in a used lane with the same run in a fresh one.
func (c *vectorCheck) restarts() error {
	return c.with(1, func(env vector.Environment) error {
		d := newDriver(c, 7)
		if _, err := c.calls(env, []*driver{d}, false, false); err != nil {
			return err
		}
		used, err := c.calls(env, []*driver{newDriver(c, 8)}, false, false)
		if err != nil {
			return err
		}
		return c.with(1, func(env vector.Environment) error {
			fresh, err := c.calls(env, []*driver{newDriver(c, 8)}, false, false)
			if err == nil {
				c.try(SameSeedSameEpisode, differ(fresh[0], used[0], "a run in a lane that has had other runs"))
			}
			return err
		})
	})
}

// with opens lanes for as long as f runs.
func (c *vectorCheck) with(n int, f func(vector.Environment) error) error {
	if err := c.bounds.late(c.size); err != nil {
		return err
	}
	env, err := c.open(n)
	if err != nil {
		return err
	}
	return errors.Join(f(env), env.Close())
}

// drive opens n lanes, makes calls and returns a log a lane. The first lane gets
// the calls of driver first, and so on.
func (c *vectorCheck) drive(n, first int, dirty, idle bool) (logs [][]string, err error) {
	err = c.with(n, func(env vector.Environment) error {
		var drivers []*driver
		for i := range n {
			drivers = append(drivers, newDriver(c, uint64(first+i)))
		}
		c.try(SpecConstant, sameSpec(&c.spec, env.Spec()))
		logs, err = c.calls(env, drivers, dirty, idle)
		c.try(SpecConstant, sameSpec(&c.spec, env.Spec()))
		return err
	})
	return logs, err
}

// driver decides what a lane is told, from its own stream and from what the lane
// answered.
type driver struct {
	rng     *rand.Rand
	actions []space.Value
	next    int // action
	made    int // calls
	ended   bool
	mask    []bool // that the lane answered last
}

func newDriver(c *vectorCheck, number uint64) *driver {
	return &driver{rng: rand.New(rand.NewPCG(number, 1)), actions: c.actions, next: int(number)}
}

func (d *driver) call(in *vector.Actions, spec *framework.Spec, lane int) error {
	in.Seeds[lane] = d.rng.Uint64()
	switch u := d.rng.IntN(20); {
	case d.made == 0 || u == 0:
		in.Signals[lane] = vector.NewRun
	case d.ended || u == 1 || d.made == 3: // the smallest form has an episode after the first
		in.Signals[lane] = vector.NewEpisode
	default:
		in.Signals[lane] = vector.Continue
	}
	d.made++
	a := d.actions[d.next%len(d.actions)]
	d.next++
	return choose(in, spec, lane, d.mask, a)
}

// calls makes every driver's calls and logs what the lanes answer. Every call
// gets columns of its own: dirty ones hold values that no lane may mistake for
// its own. With idle, lanes are left out now and then.
func (c *vectorCheck) calls(env vector.Environment, drivers []*driver, dirty, idle bool) ([][]string, error) {
	n := len(drivers)
	logs := make([][]string, n)
	pause := rand.New(rand.NewPCG(99, 0))
	var kept []vector.TimeSteps
	var keptBytes [][]byte
	for slices.ContainsFunc(drivers, func(d *driver) bool { return d.made < c.size.calls }) {
		if err := c.bounds.late(c.size); err != nil {
			return nil, err
		}
		in, out := vector.NewActions(c.spec, n), vector.NewTimeSteps(c.spec, n)
		for i, d := range drivers {
			in.Signals[i] = vector.Idle
			if d.made < c.size.calls && !(idle && pause.IntN(4) == 0) {
				if err := d.call(in, &c.spec, i); err != nil {
					return nil, err
				}
			}
			if dirty || in.Signals[i] == vector.Idle {
				soil(&out, i, uint64(d.made))
			}
			if in.Signals[i] == vector.Idle {
				in.Seeds[i] = 12345
				if bad := outside(c.spec.Action); len(bad) > 0 {
					if err := in.Actions.Set(c.spec.Action, i, bad[0]); err != nil {
						return nil, err
					}
				}
			}
		}
		before, given := lanesOf(&out, n), fmt.Sprint(in)
		if err := env.Step(c.ctx, in, &out); err != nil {
			return nil, fmt.Errorf("call %d with signals %v: %w", len(kept), in.Signals, err)
		}
		now := fmt.Sprint(in)
		c.holds(InputUnchanged, now == given, "call %d changed its input from %s to %s", len(kept), given, now)
		if err := lengths(&out, n, c.spec); err != nil {
			return nil, err
		}
		after := lanesOf(&out, n)
		for i, d := range drivers {
			if in.Signals[i] == vector.Idle {
				c.holds(IdleUntouched, after[i] == before[i], "lane %d was idle and its entries went from %s to %s", i, before[i], after[i])
				continue
			}
			logs[i] = append(logs[i], after[i])
			d.ended, d.mask = out.Terminated[i] || out.Truncated[i], slices.Clone(out.Mask(i))
			if !dirty {
				c.judge(in.Signals[i], &out, i)
			}
		}
		kept, keptBytes = append(kept, out), append(keptBytes, fmt.Append(nil, after))
	}
	for k := range kept {
		now := fmt.Sprint(lanesOf(&kept[k], n))
		c.holds(ReturnsOwnSlices, now == string(keptBytes[k]), "the columns filled by call %d were %s when it returned and %s later", k, keptBytes[k], now)
	}
	return logs, nil
}

// judge checks what a lane answered.
func (c *vectorCheck) judge(signal vector.Signal, out *vector.TimeSteps, i int) {
	r, ended := out.Rewards[i], out.Terminated[i] || out.Truncated[i]
	c.holds(FiniteReward, !math.IsNaN(r) && !math.IsInf(r, 0), "lane %d: reward %v", i, r)
	if low, high := vector.RewardLimits(&c.spec); signal == vector.Continue {
		c.holds(RewardInBounds, !(r < low || r > high), "lane %d: reward %v, the spec's bounds are [%v, %v]", i, r, c.spec.RewardLow, c.spec.RewardHigh)
	}
	c.try(ObservationInSpace, c.spec.Observation.Check(&out.Observations, i))
	if c.spec.Continuing {
		c.holds(EndsNever, !ended, "lane %d: terminated %v, truncated %v", i, out.Terminated[i], out.Truncated[i])
	}
	if mask := out.Mask(i); mask != nil {
		c.holds(MaskAllows, out.Terminated[i] || slices.Contains(mask, true), "lane %d: the mask allows no action, and the episode has not terminated", i)
	}
	if signal != vector.Continue {
		c.holds(NewEpisodeIsClean, r == 0 && !ended, "lane %d: reward %v, terminated %v, truncated %v", i, r, out.Terminated[i], out.Truncated[i])
	}
}

// soil fills a lane's entries with values that depend on salt.
func soil(out *vector.TimeSteps, i int, salt uint64) {
	rng := rand.New(rand.NewPCG(salt, uint64(i)))
	out.Rewards[i], out.Terminated[i], out.Truncated[i] = 1e6+rng.Float64(), rng.IntN(2) == 0, rng.IntN(2) == 0
	soilColumn(&out.Observations, i, rng)
	for a := range out.Mask(i) {
		out.Mask(i)[a] = rng.IntN(2) == 0
	}
}

// soilColumn fills a lane with values that are most likely in no space.
func soilColumn(c *space.Column, i int, rng *rand.Rand) {
	for k := i * c.Width; k < (i+1)*c.Width; k++ {
		switch c.Type {
		case space.Int64:
			c.Int64[k] = -1e9 - rng.Int64N(1000)
		case space.Float64:
			c.Float64[k] = 1e6 + rng.Float64()
		case space.Float32:
			c.Float32[k] = 1e6 + rng.Float32()
		case space.Uint8:
			c.Uint8[k] = uint8(rng.UintN(256))
		}
	}
}

// lanesOf describes every lane's entries, bit for bit. It requires the lengths to
// be right.
func lanesOf(out *vector.TimeSteps, n int) []string {
	observations := out.Observations.AppendBytes(nil)
	width := len(observations) / n
	entries := make([]string, n)
	for i := range n {
		entries[i] = entry(observations[i*width:(i+1)*width], out.Rewards[i], out.Terminated[i], out.Truncated[i], out.Mask(i))
	}
	return entries
}

// lengths checks that a step left the columns their lengths.
func lengths(out *vector.TimeSteps, n int, spec framework.Spec) error {
	if len(out.Rewards) != n || len(out.Terminated) != n || len(out.Truncated) != n ||
		out.Observations.Lanes() != n || !reflect.DeepEqual(out.Observations.Type, spec.Observation.DType()) {
		return fmt.Errorf("columns of %d observations, %d rewards, %d and %d flags for %d lanes",
			out.Observations.Lanes(), len(out.Rewards), len(out.Terminated), len(out.Truncated), n)
	}
	return nil
}

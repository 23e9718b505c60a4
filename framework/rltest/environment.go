package rltest

import (
	"context"
	"crypto/sha256"
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

const (
	// maxSteps is how long an episode may take to end when a check needs its end.
	maxSteps = 10_000
	// sampled is how many numbers are drawn for actions where the caller names
	// none: enough for maxSteps actions that never repeat, unless they are wide.
	sampled = 1_000_000
	// compared is how many steps of two episodes are compared.
	compared = 500
)

// CheckEnvironment checks an environment as its author writes it, and the lanes
// that vector.Vectorize makes of it. newEnv makes a fresh one at every call.
// The actions are taken in order, again and again; they should end an episode
// unless the environment is Continuing. Without actions, actions drawn from the
// action space are taken. The result is nil or every broken rule: see Broken.
func CheckEnvironment(ctx context.Context, newEnv func() (framework.Environment, error), actions []space.Value) error {
	c := &environmentCheck{ctx: ctx, newEnv: newEnv}
	r := &c.report
	env, err := newEnv()
	if err != nil {
		return fmt.Errorf("rltest: no environment to check: %w", err)
	}
	if c.spec, err = specOf(env.Spec); err != nil {
		r.fail(SpecValid, err)
		return r.result()
	}
	r.try(SpecValid, nil)
	if c.actions, err = actionsFor(&c.spec, actions); err != nil {
		return err
	}
	r.try(Works, vector.Guard(c.run))
	r.merge(checkVectorEnvironment(ctx, Bounds{}, func(lanes int) (vector.Environment, error) {
		return vector.Vectorize(newEnv, lanes)
	}, c.actions))
	return r.result(append(vectorRules(&c.spec), ReturnsOwnSlices)...)
}

// specOf asks for a spec and validates it.
func specOf(ask func() framework.Spec) (spec framework.Spec, err error) {
	err = vector.Guard(func() error {
		spec = ask()
		return spec.Validate()
	})
	return spec, err
}

// actionsFor checks the actions or, if there are none, draws some.
func actionsFor(spec *framework.Spec, actions []space.Value) ([]space.Value, error) {
	column := space.NewColumn(spec.Action, 1)
	for i, a := range actions {
		if err := column.Set(spec.Action, 0, a); err != nil {
			return nil, fmt.Errorf("rltest: actions[%d]: %w", i, err)
		}
		if err := spec.Action.Check(&column, 0); err != nil {
			return nil, fmt.Errorf("rltest: actions[%d]: %w", i, err)
		}
	}
	if len(actions) > 0 {
		return actions, nil
	}
	rng := rand.New(rand.NewPCG(1, 0))
	for range min(maxSteps, sampled/spec.Action.Width()+1) {
		actions = append(actions, space.Sample(spec.Action, rng))
	}
	return actions, nil
}

// environmentCheck checks single copies.
type environmentCheck struct {
	report
	ctx     context.Context
	newEnv  func() (framework.Environment, error)
	spec    framework.Spec
	actions []space.Value
}

func (c *environmentCheck) run() error {
	env, err := c.newEnv()
	if err != nil {
		return err
	}
	c.try(NeedsResetFirst, wants(c.attempt(env, c.actions[0]), framework.ErrNeedsReset))

	first, ended, err := c.play(env, 1, maxSteps)
	if err != nil {
		return err
	}
	if ended {
		c.try(NeedsResetAfter, wants(c.attempt(env, c.actions[0]), framework.ErrNeedsReset))
	}
	if _, _, err := c.play(env, 2, compared); err != nil {
		return err
	}
	again, _, err := c.play(env, 1, compared)
	if err != nil {
		return err
	}
	c.try(SameSeedSameEpisode, differ(first, again, "the same seed and actions after another episode"))
	if env, err = c.newEnv(); err != nil {
		return err
	}
	c.try(SpecConstant, sameSpec(&c.spec, env.Spec()))
	fresh, _, err := c.play(env, 1, compared)
	if err != nil {
		return err
	}
	c.try(SameSeedSameEpisode, differ(first, fresh, "the same seed and actions in a fresh environment"))
	return c.refuses()
}

// refuses tries actions outside the action space.
func (c *environmentCheck) refuses() error {
	for _, bad := range outside(c.spec.Action) {
		env, err := c.newEnv()
		if err != nil {
			return err
		}
		if _, err := env.Reset(c.ctx, 1); err != nil {
			return err
		}
		c.try(InvalidAction, wants(c.attempt(env, bad), framework.ErrInvalidAction))
	}
	return nil
}

// attempt makes a step that should fail.
func (c *environmentCheck) attempt(env framework.Environment, action space.Value) error {
	return vector.Guard(func() error {
		_, err := env.Step(c.ctx, clone(action))
		return err
	})
}

// play makes an episode of at most the given number of steps and returns what
// every call yielded. It checks what can be checked on the way.
func (c *environmentCheck) play(env framework.Environment, seed uint64, steps int) (log []string, ended bool, err error) {
	var returned, copies []space.Value
	keep := func(ts framework.TimeStep) {
		column := c.judge(ts)
		if len(log) == compared {
			return
		}
		log = append(log, entry(column.AppendBytes(nil), ts.Reward, ts.Terminated, ts.Truncated))
		returned, copies = append(returned, ts.Observation), append(copies, clone(ts.Observation))
	}
	observation, err := env.Reset(c.ctx, seed)
	if err != nil {
		return nil, false, fmt.Errorf("reset: %w", err)
	}
	keep(framework.TimeStep{Observation: observation})
	for k := 0; k < steps && !ended; k++ {
		action := clone(c.actions[k%len(c.actions)])
		given := clone(action)
		ts, err := env.Step(c.ctx, given)
		if err != nil {
			return nil, false, fmt.Errorf("step %d of the episode of seed %d: %w", k+1, seed, err)
		}
		c.holds(InputUnchanged, same(given, action), "step %d changed its action from %v to %v", k+1, action, given)
		keep(ts)
		ended = ts.Terminated || ts.Truncated
	}
	c.try(SpecConstant, sameSpec(&c.spec, env.Spec()))
	for k := range returned {
		c.holds(ReturnsOwnSlices, same(returned[k], copies[k]), "the observation of call %d was %v when it was returned and %v later", k, copies[k], returned[k])
	}
	return log, ended, nil
}

// judge checks an observation and returns it as a column.
func (c *environmentCheck) judge(ts framework.TimeStep) *space.Column {
	column := space.NewColumn(c.spec.Observation, 1)
	err := column.Set(c.spec.Observation, 0, ts.Observation)
	if err == nil {
		err = c.spec.Observation.Check(&column, 0)
	}
	c.try(ObservationInSpace, err)
	return &column
}

// entry describes what one call yielded, bit for bit.
func entry(observation []byte, reward float64, terminated, truncated bool) string {
	text := fmt.Sprintf("%x", observation)
	if len(observation) > 64 {
		text = fmt.Sprintf("of %d bytes with hash %x", len(observation), sha256.Sum256(observation))
	}
	return fmt.Sprintf("observation %s, reward %v (%x), terminated %v, truncated %v",
		text, reward, math.Float64bits(reward), terminated, truncated)
}

// differ returns the first difference of two logs where both have entries.
func differ(want, got []string, what string) error {
	for k := range min(len(want), len(got)) {
		if want[k] != got[k] {
			return fmt.Errorf("%s, call %d: %s; before: %s", what, k, got[k], want[k])
		}
	}
	return nil
}

// wants returns nil if err wraps the sentinel.
func wants(err, sentinel error) error {
	switch {
	case errors.Is(err, sentinel):
		return nil
	case err == nil:
		return fmt.Errorf("no error; want one that wraps %q", sentinel)
	}
	return fmt.Errorf("%w; want an error that wraps %q", err, sentinel)
}

func sameSpec(want *framework.Spec, got framework.Spec) error {
	if !reflect.DeepEqual(*want, got) {
		return fmt.Errorf("the spec was %+v and is %+v", *want, got)
	}
	return nil
}

// clone returns a copy that shares no memory.
func clone(v space.Value) (c space.Value) {
	c.CopyFrom(v)
	return c
}

// same compares values, NaN being the same as NaN and nil as empty.
func same(a, b space.Value) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// outside returns values that a column of the space can hold but that are not in
// the space. There may be none.
func outside(s space.Space) []space.Value {
	column := space.NewColumn(s, 1)
	return slices.DeleteFunc(candidates(s), func(v space.Value) bool {
		return column.Set(s, 0, v) != nil || s.Check(&column, 0) == nil
	})
}

func candidates(s space.Space) (values []space.Value) {
	switch s := s.(type) {
	case space.Discrete:
		return []space.Value{{Int: s.Start - 1}, {Int: s.Start + s.N}, {Int: math.MaxInt64}, {Int: math.MinInt64}}
	case space.MultiDiscrete:
		below, above := make([]int64, len(s.NVec)), make([]int64, len(s.NVec))
		below[0] = -1
		above[len(above)-1] = s.NVec[len(above)-1]
		return []space.Value{{Ints: below}, {Ints: above}}
	case space.Box:
		inside := space.Sample(s, rand.New(rand.NewPCG(1, 0)))
		for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), s.Low[0] - 1, s.High[0] + 1} {
			v := clone(inside)
			switch s.DType() {
			case space.Float64:
				v.Float64[0] = x
			case space.Float32:
				v.Float32[0] = float32(x)
			case space.Uint8:
				v.Uint8[0] = uint8(min(max(x, 0), math.MaxUint8)) // a NaN becomes whatever byte
			case space.Int64:
				v.Ints[0] = int64(min(max(x, -1<<53), 1<<53)) // and whatever integer
			}
			values = append(values, v)
		}
	}
	return values
}

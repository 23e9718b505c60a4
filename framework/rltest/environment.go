package rltest

import (
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
	// sampled is how many numbers are drawn for actions: enough for maxSteps actions that
	// never repeat, unless they are wide.
	sampled = 1_000_000
)

// specOf asks for a spec and validates it.
func specOf(ask func() framework.Spec) (spec framework.Spec, err error) {
	err = vector.Guard(func() error {
		spec = ask()
		return spec.Validate()
	})
	return spec, err
}

// drawn returns actions drawn from the action space.
func drawn(spec *framework.Spec) (actions []space.Value) {
	rng := rand.New(rand.NewPCG(1, 0))
	for range min(maxSteps, sampled/spec.Action.Width()+1) {
		actions = append(actions, space.Sample(spec.Action, rng))
	}
	return actions
}

// entry describes what one call yielded, bit for bit.
func entry(observation []byte, reward float64, terminated, truncated bool, mask []bool) string {
	text := fmt.Sprintf("%x", observation)
	if len(observation) > 64 {
		text = fmt.Sprintf("of %d bytes with hash %x", len(observation), sha256.Sum256(observation))
	}
	text = fmt.Sprintf("observation %s, reward %v (%x), terminated %v, truncated %v",
		text, reward, math.Float64bits(reward), terminated, truncated)
	if mask != nil {
		text += fmt.Sprintf(", mask %v", mask)
	}
	return text
}

// choose gives a lane an action, or where its mask does not allow that the next one that it allows.
func choose(in *vector.Actions, spec *framework.Spec, lane int, mask []bool, action space.Value) error {
	if first, ok := spec.Action.(space.Discrete); ok && slices.Contains(mask, true) {
		for !mask[action.Int-first.Start] {
			action.Int = first.Start + (action.Int-first.Start+1)%first.N
		}
	}
	return in.Actions.Set(spec.Action, lane, action)
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

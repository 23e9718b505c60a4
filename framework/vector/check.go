package vector

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
)

// Check reports the first answer of an environment that breaks the contract, as
// a *LaneError wrapping ErrInvalidAnswer. Invalid answers are: a reward that is
// not finite or outside the spec's bounds (up to rounding); an observation
// outside its space; a first time step with a reward or a flag; the end of an
// episode in a continuing environment; a mask that allows nothing. It requires columns of the right length.
func (t *TimeSteps) Check(spec *framework.Spec, signals []Signal) error {
	discrete, fast := spec.Observation.(space.Discrete)
	low, high := RewardLimits(spec)
	for i, s := range signals {
		if s == Idle {
			continue
		}
		r, ended := t.Rewards[i], t.Terminated[i] || t.Truncated[i]
		switch {
		case r-r != 0: // true of NaN and infinities alone
			return invalid(i, "reward is %v, must be finite", r)
		case s != Continue && (r != 0 || ended):
			return invalid(i, "a new episode with reward %v, terminated %v, truncated %v; must be 0, false, false", r, t.Terminated[i], t.Truncated[i])
		case s == Continue && !(low <= r && r <= high):
			return invalid(i, "reward is %v, outside the bounds [%v, %v] that the environment declares", r, spec.RewardLow, spec.RewardHigh)
		case ended && spec.Continuing:
			return invalid(i, "the episode ended, but the environment says that none does")
		case len(t.Masks) > 0 && !t.Terminated[i] && !slices.Contains(t.Mask(i), true):
			return invalid(i, "the action mask allows no action, and the episode has not terminated")
		}
		if fast && discrete.Contains(t.Observations.Int64[i]) {
			continue
		}
		if err := spec.Observation.Check(&t.Observations, i); err != nil {
			return invalid(i, "observation: %w", err)
		}
	}
	return nil
}

// rounding is how far, relative to the larger bound, a reward may be outside its bounds.
// It allows for rewards that are computed in float32.
const rounding = 1e-6

// RewardLimits returns the bounds of a spec's rewards with room for rounding.
func RewardLimits(spec *framework.Spec) (low, high float64) {
	low, high = spec.RewardLow, spec.RewardHigh
	scale := 0.0
	for _, bound := range []float64{low, high} {
		if !math.IsInf(bound, 0) {
			scale = max(scale, math.Abs(bound))
		}
	}
	return low - rounding*scale, high + rounding*scale
}

// CheckActions reports the first action of an agent that is not in the action
// space, or that its mask does not allow, as a *LaneError wrapping ErrInvalidAnswer. Lanes whose action is not
// used are skipped. It requires a column of the right length.
func (f *Feedback) CheckActions(spec *framework.Spec, actions *space.Column) error {
	discrete, fast := spec.Action.(space.Discrete)
	for i, s := range f.Signals {
		if s == Idle || (s == Continue || s == Evaluate) && (f.Terminated[i] || f.Truncated[i]) {
			continue
		}
		if fast && discrete.Contains(actions.Int64[i]) {
			if mask := f.Mask(i); mask != nil && !mask[actions.Int64[i]-discrete.Start] {
				return invalid(i, "action %d is not allowed there: the environment's mask allows %s", actions.Int64[i], allowed(mask, discrete.Start))
			}
			continue
		}
		if err := spec.Action.Check(actions, i); err != nil {
			return invalid(i, "action: %w", err)
		}
	}
	return nil
}

// allowed lists the actions of a mask, of many the first.
func allowed(mask []bool, start int64) string {
	var list []string
	for a, ok := range mask {
		if ok && len(list) == 10 {
			list = append(list, "…")
			break
		}
		if ok {
			list = append(list, fmt.Sprint(start+int64(a)))
		}
	}
	return strings.Join(list, ", ")
}

func invalid(lane int, format string, args ...any) error {
	return &LaneError{Lane: lane, Err: fmt.Errorf("%w: %w", framework.ErrInvalidAnswer, fmt.Errorf(format, args...))}
}

package finite

import (
	"math"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// LowBound is the parameter of agents that have to know the smallest reward.
type LowBound struct {
	RewardLow *float64 `json:"reward_low,omitempty" jsonschema_description:"Smallest reward. Default: the bound that the environment declares."`
}

// HighBound is the parameter of agents that have to know the largest reward.
type HighBound struct {
	RewardHigh *float64 `json:"reward_high,omitempty" jsonschema_description:"Largest reward. Default: the bound that the environment declares."`
}

// Bounds are the parameters of agents that have to know the range of rewards.
type Bounds struct {
	LowBound
	HighBound
}

const lowerBound, upperBound = "a lower bound on rewards", "an upper bound on rewards"

// Of returns the bound for a task.
func (b LowBound) Of(t Task) (float64, error) {
	low, err := bound(b.RewardLow, t.Spec.RewardLow, "reward_low", lowerBound, "reward_low", t)
	if err == nil && low > t.Spec.RewardHigh {
		return 0, lanes.Invalid("reward_low is %v, must not be above %v, the largest reward that %s declares", low, t.Spec.RewardHigh, t.Spec.ID)
	}
	return low, err
}

// Of returns the bound for a task.
func (b HighBound) Of(t Task) (float64, error) {
	high, err := bound(b.RewardHigh, t.Spec.RewardHigh, "reward_high", upperBound, "reward_high", t)
	if err == nil && high < t.Spec.RewardLow {
		return 0, lanes.Invalid("reward_high is %v, must not be below %v, the smallest reward that %s declares", high, t.Spec.RewardLow, t.Spec.ID)
	}
	return high, err
}

// Of returns the bounds for a task.
func (b Bounds) Of(t Task) (low, high float64, err error) {
	what, names := "bounds on rewards", "reward_low and reward_high"
	switch { // of one that is missing beside the other
	case b.RewardHigh != nil || !math.IsInf(t.Spec.RewardHigh, 0):
		what, names = lowerBound, "reward_low"
	case b.RewardLow != nil || !math.IsInf(t.Spec.RewardLow, 0):
		what, names = upperBound, "reward_high"
	}
	if low, err = bound(b.RewardLow, t.Spec.RewardLow, "reward_low", what, names, t); err != nil {
		return 0, 0, err
	}
	if high, err = bound(b.RewardHigh, t.Spec.RewardHigh, "reward_high", what, names, t); err != nil {
		return 0, 0, err
	}
	if !(low <= high) {
		return 0, 0, lanes.Invalid("reward_low is %v, must not be above reward_high, %v", low, high)
	}
	if low == high && (b.RewardLow != nil || b.RewardHigh != nil) {
		return 0, 0, lanes.Invalid("reward_low and reward_high are both %v, which leaves nothing to learn", low)
	}
	return low, high, nil
}

// bound is the one given or, if there is none, the one declared. what is what is needed, and names are the
// parameters that give it.
func bound(given *float64, declared float64, name, what, names string, t Task) (float64, error) {
	if given != nil {
		if math.Abs(*given) > framework.LargestReward {
			return 0, lanes.Invalid("%s: %v is too large: bounds of rewards are in [-%g, %g]", name, *given, framework.LargestReward, framework.LargestReward)
		}
		return *given, nil
	}
	if math.IsInf(declared, 0) {
		return 0, lanes.Unsupported("needs %s, and %s declares none: declare it in the environment, or set %s in the params of this agent", what, t.Spec.ID, names)
	}
	return declared, nil
}

// CheckHorizon bounds the size of a plan that depends on the steps left.
func CheckHorizon(horizon int, t Task) error {
	if horizon > MaxPairs/t.States/t.Actions {
		return lanes.Unsupported("a plan of %d steps for the %d states and %d actions of %s is too large", horizon, t.States, t.Actions, t.Spec.ID)
	}
	return nil
}

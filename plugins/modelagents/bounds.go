package modelagents

import (
	"math"

	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// Bounds are the parameters of agents that have to know the range of rewards.
type Bounds struct {
	RewardLow  *float64 `json:"reward_low,omitempty" jsonschema_description:"Smallest reward. Default: the bound that the environment declares."`
	RewardHigh *float64 `json:"reward_high,omitempty" jsonschema_description:"Largest reward. Default: the bound that the environment declares."`
}

// of returns the bounds for a task.
func (b Bounds) of(t finite.Task) (low, high float64, err error) {
	low, high = t.Spec.RewardLow, t.Spec.RewardHigh
	if b.RewardLow != nil {
		low = *b.RewardLow
	}
	if b.RewardHigh != nil {
		high = *b.RewardHigh
	}
	switch {
	case math.IsInf(low, 0) || math.IsInf(high, 0):
		return 0, 0, lanes.Unsupported("needs bounds on rewards, %s states none; set reward_low and reward_high", t.Spec.ID)
	case !(low <= high):
		return 0, 0, lanes.Invalid("reward_low is %v, must not be above reward_high, %v", low, high)
	}
	return low, high, nil
}

package modelagents

import (
	"math"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// Prior are the parameters of agents whose belief is that of Osband's TabulaRL: independent
// Dirichlet rows, and normal rewards of known precision.
type Prior struct {
	Alpha float64 `json:"alpha" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Prior Dirichlet parameter of each successor. The default of psrl and boss is a choice of ours, made on development tasks (docs/studies/families.md, Defaults of learners); that of the others is TabulaRL's. A value of 1 over the number of states is better in tasks with many states and few successors."`
	Mu0   float64 `json:"mu0" jsonschema_description:"Prior mean of a mean reward; default of TabulaRL. A high value makes unknown pairs attractive."`
	Tau0  float64 `json:"tau0" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Prior precision of a mean reward; default of TabulaRL."`
	Tau   float64 `json:"tau" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Precision of rewards around their mean, assumed known. The default of psrl is a choice of ours, made on development tasks (docs/studies/families.md, Defaults of learners); that of the others is TabulaRL's. Larger rewards need a smaller value. If rewards have little noise, psrl and boss learn faster with a larger value, and much faster in tasks that pay once per episode."`
	// IgnoreLast is for the comparison with TabulaRL.
	IgnoreLast bool `json:"ignore_last" jsonschema_description:"From the last step of a truncated episode, learn only the reward and not the successor, as TabulaRL does. By default the agent learns from it as from any other step, a choice of ours."`
}

// rewards is the prior of mean rewards.
func (p *Prior) rewards() normalReward { return normalReward{p.Mu0, p.Tau0, p.Tau} }

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

// of returns the bound for a task.
func (b LowBound) of(t finite.Task) (float64, error) {
	low, err := bound(b.RewardLow, t.Spec.RewardLow, "a lower bound on rewards", "reward_low", t)
	if err == nil && low > t.Spec.RewardHigh {
		return 0, lanes.Invalid("reward_low is %v, must not be above %v, the largest reward that %s declares", low, t.Spec.RewardHigh, t.Spec.ID)
	}
	return low, err
}

// of returns the bound for a task.
func (b HighBound) of(t finite.Task) (float64, error) {
	high, err := bound(b.RewardHigh, t.Spec.RewardHigh, "an upper bound on rewards", "reward_high", t)
	if err == nil && high < t.Spec.RewardLow {
		return 0, lanes.Invalid("reward_high is %v, must not be below %v, the smallest reward that %s declares", high, t.Spec.RewardLow, t.Spec.ID)
	}
	return high, err
}

// of returns the bounds for a task.
func (b Bounds) of(t finite.Task) (low, high float64, err error) {
	const what, names = "bounds on rewards", "reward_low and reward_high"
	if low, err = bound(b.RewardLow, t.Spec.RewardLow, what, names, t); err != nil {
		return 0, 0, err
	}
	if high, err = bound(b.RewardHigh, t.Spec.RewardHigh, what, names, t); err != nil {
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

// bound is the one given or, if there is none, the one declared.
func bound(given *float64, declared float64, what, names string, t finite.Task) (float64, error) {
	if given != nil {
		if math.Abs(*given) > framework.LargestReward {
			return 0, lanes.Invalid("%s: %v is too large: bounds of rewards are in [-%g, %g]", names, *given, framework.LargestReward, framework.LargestReward)
		}
		return *given, nil
	}
	if math.IsInf(declared, 0) {
		return 0, lanes.Unsupported("needs %s, and %s declares none: declare it in the environment, or set %s in the params of this agent", what, t.Spec.ID, names)
	}
	return declared, nil
}

// checkHorizon bounds the size of a plan that depends on the steps left.
func checkHorizon(horizon int, t finite.Task) error {
	if horizon > finite.MaxPairs/t.States/t.Actions {
		return lanes.Unsupported("a plan of %d steps for the %d states and %d actions of %s is too large", horizon, t.States, t.Actions, t.Spec.ID)
	}
	return nil
}

// maxAverage is up to how many states policy iteration takes.
const maxAverage = 2000

// checkAverage bounds the size of tasks whose reward per step is maximised exactly.
func checkAverage(t finite.Task) error {
	if t.States > maxAverage {
		return lanes.Unsupported("the average criterion is for up to %d states; %s has %d", maxAverage, t.Spec.ID, t.States)
	}
	return nil
}

// maxSuccessors bounds S²AK, for agents with K models that let every pair lead anywhere.
const maxSuccessors = 1 << 24

// checkSuccessors bounds the memory of so many models.
func checkSuccessors(t finite.Task, models int) error {
	if t.States > maxSuccessors/t.States/t.Actions/models {
		return lanes.Unsupported("%s has %d states and %d actions, too many for %d models in which all leads anywhere", t.Spec.ID, t.States, t.Actions, models)
	}
	return nil
}

package result

import (
	"slices"
	"strings"
)

// Definition says what a metric means, for axes, tables and legends.
type Definition struct {
	Title string // "cumulative reward"
	Axis  string // with what the value counts: "mean reward per step (window mean)"
	Text  string // one sentence
	// Cumulative metrics are summarised by their last value, the others by
	// their mean over all steps.
	Cumulative bool
	// Summed metrics are summarised by the sum of their values.
	Summed bool
	// LowerIsBetter and HigherIsBetter are set for metrics of plugins that declare it.
	LowerIsBetter, HigherIsBetter bool
}

// The sides that have metrics of their own: the first part of such a metric's name.
const (
	EnvironmentMetrics = "environment"
	AgentMetrics       = "agent"
)

// MetricOf names the curve of a metric of an environment's or agent's own.
func MetricOf(side, name string) Metric { return Metric(side + "." + name) }

// OfPlugin says whether a metric is of an environment's or agent's own.
func (m Metric) OfPlugin() bool { return strings.Contains(string(m), ".") }

// Define is function Define, for metrics that plugins have declared as well.
func (m *Meta) Define(x Metric) Definition {
	if d, ok := m.Declared[x]; ok {
		return d
	}
	return Define(x)
}

// FinalReward is the mean reward of the last tenth of a run. It is computed from
// the windows that begin at or after 9/10 of its steps, or from the last window
// if there are none. It has no curve; only summaries hold it.
const FinalReward Metric = "final_reward"

// Metrics lists the known metrics in the order in which they are shown.
func Metrics() []Metric {
	return []Metric{Reward, FinalReward, CumulativeReward, DiscountedReturn, EpisodeReturn, Regret, OptimalAction, ExplorationShare, MixingTime}
}

// Define returns the definition of a metric; of an unknown one, a definition
// made from its name.
func Define(m Metric) Definition {
	switch m {
	case Reward:
		return Definition{Title: "mean reward", Axis: "mean reward per step (window mean)",
			Text: "Mean reward of the steps since the previous recorded step; in summaries, of all steps."}
	case FinalReward:
		return Definition{Title: "final reward", Axis: "mean reward per step",
			Text: "Mean reward of the last tenth of the run."}
	case CumulativeReward:
		return Definition{Title: "cumulative reward", Axis: "cumulative reward (sum over steps)", Cumulative: true,
			Text: "Sum of all rewards from the first step on."}
	case DiscountedReturn:
		return Definition{Title: "discounted return", Axis: "discounted return (discounted sum)", Cumulative: true,
			Text: "Sum of all rewards from the first step on, the k-th later one weighted by the k-th power of the discount."}
	case EpisodeReturn:
		return Definition{Title: "episode return", Axis: "return per episode (window mean)",
			Text: "Mean undiscounted return of the episodes that ended since the previous recorded step."}
	case Regret:
		return Definition{Title: "regret", Axis: "regret (reward forgone)", Cumulative: true,
			Text: "Sum over all steps of the optimal expected reward minus the expected reward of the action taken; in tasks with several states, the steps times the optimal reward per step minus the rewards had."}
	case OptimalAction:
		return Definition{Title: "optimal actions", Axis: "share of optimal actions (window mean)",
			Text: "Share of the steps since the previous recorded step at which the action was optimal; in summaries, of all steps."}
	case ExplorationShare:
		return Definition{Title: "exploration share", Axis: "share of exploratory steps (window mean)",
			Text: "Share of the steps since the previous recorded step at which an option other than the greedy one was in force; in summaries, of all steps."}
	case MixingTime:
		return Definition{Title: "mixing time", Axis: "steps for which an option is held",
			Text: "Estimate of the exploration mixing time, within its bounds: the number of steps for which an option is held; in summaries, its mean over the run."}
	}
	name := strings.ReplaceAll(string(m), "_", " ")
	return Definition{Title: name, Axis: name, Text: "A metric that a plugin recorded."}
}

// sortMetrics puts metrics in the order of order, unknown ones last by name.
func sortMetrics(ms, order []Metric) {
	rank := func(m Metric) int {
		if i := slices.Index(order, m); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortFunc(ms, func(a, b Metric) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(string(a), string(b))
	})
}

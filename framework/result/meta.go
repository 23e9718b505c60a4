package result

import "github.com/rlrun/rlrun/framework/metric"

// Meta is what the records of an experiment do not say themselves. The
// experiment engine makes it from the config.
type Meta struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Steps is the number of interactions in a run.
	Steps int `json:"steps"`
	// Grid holds the steps at which curves have a value: increasing, from 1 to
	// Steps.
	Grid []int `json:"grid"`
	// Environments and Agents are the labels in the config's order. The first
	// agent is the one that the others are compared with.
	Environments []string `json:"environments"`
	Agents       []string `json:"agents"`
	// EnvironmentPlugins and AgentPlugins are the plugins behind them, in the same
	// order; nil: a plugin each.
	EnvironmentPlugins []string `json:"-"`
	AgentPlugins       []string `json:"-"`
	Discount           float64  `json:"discount"` // γ of DiscountedReturn
	// Metrics chooses and orders the metrics to aggregate; Reward brings
	// FinalReward and CumulativeReward with it. Empty means all that the records
	// hold, in the order of Metrics.
	Metrics []Metric `json:"metrics,omitempty"`
	// Recorded are the metrics that records may hold, besides those of plugins, whose
	// names have a dot; nil: any.
	Recorded []Metric `json:"-"`
	// Definitions are those of the metrics that plugins declared.
	Definitions []metric.Definition `json:"definitions,omitempty"`
	Runs        int                 `json:"runs"` // planned, of each agent in each environment
	Seed        uint64              `json:"seed"` // root seed; also seeds the bootstrap
	// Optimum is the optimal mean reward per step of environments where it is
	// known, by label; plots draw it as a line.
	Optimum map[string]float64 `json:"optimum,omitempty"`
	// Tasks says what is known of environments, by label.
	Tasks map[string]Task `json:"tasks,omitempty"`
}

// Key names one run of an experiment.
type Key struct {
	Environment string `json:"environment"`
	Agent       string `json:"agent"`
	Run         int    `json:"run"`
}

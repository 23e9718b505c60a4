package result

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework/metric"
)

// Metric names a curve; package metric defines them.
type Metric = metric.Name

// The host's metrics, defined in package metric.
const (
	Reward           = metric.Reward
	FinalReward      = metric.FinalReward
	CumulativeReward = metric.CumulativeReward
	DiscountedReturn = metric.DiscountedReturn
	EpisodeReturn    = metric.EpisodeReturn
	StepsMade        = metric.Steps
	EvaluationReturn = metric.EvaluationReturn
	EvaluationReward = metric.EvaluationReward
	Regret           = metric.Regret
	OptimalAction    = metric.OptimalAction
	ExplorationShare = metric.ExplorationShare
	MixingTime       = metric.MixingTime
)

// The sides that have metrics of their own: the first part of such a metric's name.
const (
	EnvironmentMetrics = "environment"
	AgentMetrics       = "agent"
)

// MetricOf names the curve of a metric of an environment's or agent's own. An environment whose task
// changes in a run has no one model: it measures regret and optimal_action itself, which are then
// the host's metrics of these names.
func MetricOf(side, name string) Metric {
	if m := Metric(name); side == EnvironmentMetrics && metric.Define(m).Model {
		return m
	}
	return Metric(side + "." + name)
}

// Metrics lists the host's metrics in the order in which they are shown.
func Metrics() []Metric { return metric.Select(func(*metric.Definition) bool { return true }) }

// Define returns the definition of a metric, which plugins of the experiment may have
// declared.
func (m *Meta) Define(x Metric) *metric.Definition { return metric.Define(x, m.Definitions...) }

// order is the order in which metrics are shown: the chosen ones, each with those that
// are made from it.
func (m *Meta) order() []Metric {
	if len(m.Metrics) == 0 {
		return Metrics()
	}
	var order []Metric
	for _, x := range m.Metrics {
		order = append(order, x)
		order = append(order, metric.Select(func(d *metric.Definition) bool {
			return d.From == x && !slices.Contains(m.Metrics, d.Name)
		})...)
	}
	return order
}

// asked are the metrics that the config names, each by its own name.
func (m *Meta) asked() []Metric {
	var out []Metric
	for _, x := range m.Asked {
		if !strings.HasSuffix(string(x), ".*") {
			out = append(out, x)
		}
	}
	for _, d := range m.Definitions {
		if d.Name.In(m.Asked) && !slices.Contains(out, d.Name) {
			out = append(out, d.Name)
		}
	}
	return out
}

// sortMetrics puts metrics in the order of order, unknown ones last by name.
func sortMetrics(ms, order []Metric) {
	rank := func(m Metric) int {
		if i := slices.Index(order, m); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortFunc(ms, func(a, b Metric) int { return cmp.Or(rank(a)-rank(b), cmp.Compare(a, b)) })
}

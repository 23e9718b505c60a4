package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/result"
)

// everyMetric is recorded if a config names none: what an environment or an agent cannot
// give is left out of their records.
func everyMetric() []result.Metric {
	return append(metric.Select(func(d *metric.Definition) bool { return d.Default }),
		metric.AllOf(result.EnvironmentMetrics), metric.AllOf(result.AgentMetrics))
}

// Asked returns the metrics that a config names; nil if it leaves the choice to rlrun, or
// names what rlrun would choose, as a config that rlrun has written does. evaluate and episodes
// add their own.
func (c *Config) Asked() []result.Metric {
	list := slices.DeleteFunc(slices.Clone(c.Record.Metrics), func(m result.Metric) bool {
		return c.Evaluate != nil && metric.Define(m).Sparse || m == result.StepsMade
	})
	if slices.Equal(list, everyMetric()) {
		return nil
	}
	return c.Record.Metrics
}

// recordable refuses a metric that no run can have, whatever the plugins.
func (c *Config) recordable(m result.Metric) error {
	d := metric.Define(m)
	switch e := c.Evaluate; {
	case m.OfPlugin():
		if side, _, _ := strings.Cut(string(m), "."); side != result.EnvironmentMetrics && side != result.AgentMetrics {
			return fmt.Errorf("%.80q names no plugin's metric: these are %s.NAME and %s.NAME", m, result.AgentMetrics, result.EnvironmentMetrics)
		}
	case m == result.EvaluationReturn && e != nil && e.Episodes == 0:
		return errors.New("evaluation_return is of evaluations that count episodes, and these count steps: give evaluate.episodes, or record evaluation_reward")
	case m == result.EvaluationReward && e != nil && e.Steps == 0:
		return errors.New("evaluation_reward is of evaluations that count steps, and these count episodes: give evaluate.steps, or record evaluation_return")
	case m == result.StepsMade && c.Episodes == 0:
		return fmt.Errorf("%s is of runs that end with an episode, and all of these have %d: give episodes, or leave it out", m, c.Steps)
	case d.At == nil && !d.Sparse && d.From != "":
		return fmt.Errorf("%s is made from %s, which comes with it: record %s", m, d.From, d.From)
	default:
		return knownMetric(m)
	}
	return nil
}

// has refuses a metric that is not recorded.
func (r *Recording) has(m result.Metric) error {
	if !m.In(r.Metrics) && !m.RecordedAs().In(r.Metrics) {
		return fmt.Errorf("%s is not recorded; add %s to record.metrics", m, m.RecordedAs())
	}
	return nil
}

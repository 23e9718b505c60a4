package result

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/rlrun/rlrun/framework/metric"
)

// Meta is what the records of an experiment do not say themselves. The
// experiment engine makes it from the config.
type Meta struct {
	Name        string `json:"name"`                  // of the experiment
	Description string `json:"description,omitempty"` // from the config
	// Steps is the number of interactions in a run.
	Steps int `json:"steps"`
	// Episodes is the number of episodes in a run whose budget they are, and Steps then are the most
	// that it may make. 0: Steps are the budget.
	Episodes int `json:"episodes,omitempty"`
	// Grid holds the steps at which curves have a value: increasing, from 1 to
	// Steps. With Episodes it holds the numbers of the episodes at whose ends they have one.
	Grid []int `json:"grid"`
	// Environments are labels in the config's order.
	Environments []string `json:"environments"`
	// Agents are labels in the config's order. The first agent is the one that the
	// others are compared with.
	Agents []string `json:"agents"`
	// EnvironmentPlugins are the plugins behind Environments, in the same order; nil: a
	// plugin each.
	EnvironmentPlugins []string `json:"-"`
	// AgentPlugins are the plugins behind Agents, in the same order; nil: a plugin each.
	AgentPlugins []string `json:"-"`
	Discount     float64  `json:"discount"` // γ of DiscountedReturn, in [0,1]
	// Metrics chooses and orders the metrics to aggregate; Reward brings
	// FinalReward and CumulativeReward with it. Empty means all that the records
	// hold, in the order of Metrics.
	Metrics []Metric `json:"metrics,omitempty"`
	// Recorded are the metrics that records may hold, besides those of plugins, whose
	// names have a dot; nil: any.
	Recorded []Metric `json:"-"`
	// Asked are the metrics that the config names, with agent.* and environment.*: a row says
	// where one is not known. nil: the config leaves the choice to rlrun.
	Asked []Metric `json:"-"`
	// Compared is the metric by which agents are compared; empty: Reward.
	Compared Metric `json:"-"`
	// Definitions are those of the metrics that plugins declared.
	Definitions []metric.Definition `json:"definitions,omitempty"`
	Runs        int                 `json:"runs"` // planned, of each agent in each environment
	Seed        uint64              `json:"seed"` // root seed; also seeds the bootstrap
	// Experiments identifies what decides the records of an environment and agent besides
	// the programs: seed, steps and parameters. Keys have run 0. A record that says another
	// identity is of another experiment. nil: any.
	Experiments map[Key]string `json:"-"`
	// WithoutIQM leaves out the interquartile means, which take the longest of many agents.
	WithoutIQM bool `json:"-"`
	// Skipped are the pairs that are not run.
	Skipped []Skipped `json:"skipped,omitempty"`
	// Notes are sentences, without full stops, that a reader must know before the numbers.
	Notes []string `json:"-"`
	// Optimum is the optimal mean reward per step of environments where it is
	// known, by label; plots draw it as a line.
	Optimum map[string]float64 `json:"optimum,omitempty"`
	// Tasks says what is known of environments, by label.
	Tasks map[string]Task `json:"tasks,omitempty"`
}

// Skipped is a pair of environment and agent that is not run, because the agent is
// not made for the environment.
type Skipped struct {
	Environment string `json:"environment"` // label
	Agent       string `json:"agent"`       // label
	Reason      string `json:"reason"`      // why the agent does not work in the environment
}

// String returns it as a sentence without its full stop.
func (s Skipped) String() string {
	return fmt.Sprintf("%s is not run in %s: %s", s.Agent, s.Environment, s.Reason)
}

// Skips says whether a pair is not run.
func (m *Meta) Skips(environment, agent string) bool {
	return slices.ContainsFunc(m.Skipped, func(s Skipped) bool { return s.Environment == environment && s.Agent == agent })
}

// Axis names what the grid counts.
func (m *Meta) Axis() string {
	if m.Episodes > 0 {
		return "episodes"
	}
	return "steps"
}

// Length says how long a run is.
func (m *Meta) Length() string { return fmt.Sprintf("%d %s", m.Budget(), m.Axis()) }

// Budget is the length of a run, in what the grid counts.
func (m *Meta) Budget() int { return cmp.Or(m.Episodes, m.Steps) }

// tail is the grid point of the first window that begins in the last tenth of
// the run; the last grid point if there is none.
func (m *Meta) tail() int {
	last := len(m.Grid) - 1
	for i := range last {
		if start := m.Grid[i]; 10*start >= 9*m.Grid[last] {
			return i + 1
		}
	}
	return last
}

// Windows returns the recorded steps on which a run's value of a metric depends: where
// they differ, the value means something else. Nil if it depends on none, as that of the
// reward.
func (m *Meta) Windows(x Metric) []int {
	d := m.Define(x)
	switch {
	case d.Value == metric.Last || d.Value == metric.Time || d.EveryStep:
		return nil
	case d.Value == metric.Tail && metric.Define(d.From).EveryStep:
		if tail := m.tail(); tail > 0 {
			return m.Grid[tail-1 : tail]
		}
		return nil // of all steps
	}
	return m.Grid
}

// Bounds returns the least and the largest value that a mean over runs of a metric can
// have at a step; infinite where nothing is known.
func (m *Meta) Bounds(environment string, x Metric, step int) (low, high float64) {
	d, t := m.Define(x), m.Tasks[environment]
	if d.Bounds == nil || step == 0 || m.Episodes > 0 && d.Cumulative() { // of unknown steps
		return math.Inf(-1), math.Inf(1)
	}
	p := metric.Possible{RewardLow: math.Inf(-1), RewardHigh: math.Inf(1), OneState: t.States == 1}
	if t.RewardLow != nil {
		p.RewardLow = *t.RewardLow
	}
	if t.RewardHigh != nil {
		p.RewardHigh = *t.RewardHigh
	}
	return d.Bounds(p, float64(step))
}

// Clamp keeps an interval of a mean within what the metric can be at a step.
func (m *Meta) Clamp(environment string, x Metric, step int, low, high float64) (float64, float64) {
	least, most := m.Bounds(environment, x, step)
	return max(low, least), min(high, most) // NaN stays
}

// Key names one run of an experiment.
type Key struct {
	Environment string `json:"environment"` // label
	Agent       string `json:"agent"`       // label
	Run         int    `json:"run"`         // number, from 0
}

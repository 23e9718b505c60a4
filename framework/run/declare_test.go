package run

import (
	"errors"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/framework/vector"
)

// An environment that measures the host's metrics means them as the host does. Its other metrics,
// and an agent's, are its own.
func TestDeclaredHostMetrics(t *testing.T) {
	for _, tt := range []struct {
		side string
		m    framework.Metric
		want string // in the error; empty if there is none
	}{
		{result.EnvironmentMetrics, framework.Metric{Name: "regret", Better: framework.Lower, Total: framework.Last}, ""},
		{result.EnvironmentMetrics, framework.Metric{Name: "optimal_action", Better: framework.Higher}, ""},
		{result.EnvironmentMetrics, framework.Metric{Name: "regret", Better: framework.Higher, Total: framework.Last}, `better "higher" and the last as total; rlrun's metric of this name has better "lower" and the last`},
		{result.EnvironmentMetrics, framework.Metric{Name: "regret", Better: framework.Lower}, "the mean as total"},
		{result.EnvironmentMetrics, framework.Metric{Name: "regret", Total: framework.Last}, `better ""`},
		{result.EnvironmentMetrics, framework.Metric{Name: "optimal_action", Better: framework.Higher, Total: framework.Sum}, "the sum as total"},
		{result.EnvironmentMetrics, framework.Metric{Name: "reward", Better: framework.Lower}, ""},
		{result.AgentMetrics, framework.Metric{Name: "regret", Better: framework.Higher}, ""},
	} {
		x := &Runner{Experiment: &store.Experiment{}}
		err := x.declare(tt.side, &vector.Measures{Metrics: []framework.Metric{tt.m}})
		declared := len(x.Declared.Environment) + len(x.Declared.Agent)
		if tt.want == "" && (err != nil || declared != 1) {
			t.Errorf("%s %+v: %v", tt.side, tt.m, err)
		}
		if tt.want != "" && (!errors.Is(err, framework.ErrInvalidAnswer) || !strings.Contains(err.Error(), tt.want) || declared != 0) {
			t.Errorf("%s %+v: got %v, want %s", tt.side, tt.m, err, tt.want)
		}
	}
}

// Two plugins of a side may declare a metric of one name if they mean the same by it.
func TestMetricsOfTwoPlugins(t *testing.T) {
	first := framework.Metric{Name: "energy", Better: framework.Lower, Total: framework.Sum, Unit: "kWh"}
	for want, m := range map[string]framework.Metric{
		"":                {Name: "energy", Better: framework.Lower, Total: framework.Sum, Unit: "kWh", Doc: "of this task"},
		`better "higher"`: {Name: "energy", Better: framework.Higher, Total: framework.Sum, Unit: "kWh"},
		`total "last"`:    {Name: "energy", Better: framework.Lower, Total: framework.Last, Unit: "kWh"},
		`and unit "MJ"`:   {Name: "energy", Better: framework.Lower, Total: framework.Sum, Unit: "MJ"},
	} {
		x := &Runner{Experiment: &store.Experiment{}}
		other := x.declare(result.AgentMetrics, &vector.Measures{Metrics: []framework.Metric{m}}) // another side's
		if err := x.declare(result.EnvironmentMetrics, &vector.Measures{Metrics: []framework.Metric{first}}); err != nil || other != nil {
			t.Error(err, other)
		}
		err := x.declare(result.EnvironmentMetrics, &vector.Measures{Metrics: []framework.Metric{m}})
		if (err == nil) != (want == "") || err != nil && (!errors.Is(err, framework.ErrInvalidAnswer) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%+v: got %v, want %s", m, err, want)
		}
	}
}

package plugin_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// clocked is chance that counts its steps and has no value before the second.
type clocked struct {
	*chance
	steps float64
}

func (c *clocked) Update(context.Context, plugin.Transition) error {
	c.steps++
	return nil
}

func (c *clocked) Metrics() []plugin.Metric {
	return []plugin.Metric{
		{Name: "steps", Unit: "steps", Better: framework.Higher, Total: framework.Last},
		{Name: "late", Doc: "Steps, from the second on."},
	}
}

func (c *clocked) Measure(_ context.Context, dst []float64) error {
	dst[0], dst[1] = c.steps, math.NaN()
	if c.steps > 1 {
		dst[1] = c.steps
	}
	return nil
}

// Metrics of an agent's own are recorded at grid points: in this process and through the
// seam alike. At grid point t an agent has learned from t−1 steps.
func TestMetricsOfAgents(t *testing.T) {
	p := plugin.NewAgent("test/clocked@1", "Counts.", chanceParams{Rate: 1}, func(p chanceParams, s plugin.Spec, seed uint64) (*clocked, error) {
		c, err := newChance(p, s, seed)
		return &clocked{chance: c}, err
	})
	spec := optionSpec
	spec.Action = plugin.Discrete{N: 3, Start: 1}
	runs := []int{0, 1, 2}
	for name, p := range map[string]vector.Plugin{"here": p, "seam": loopback(t, p)} {
		env := must.Get(dicePlugin(spec).OpenEnvironment(t.Context(), nil, len(runs)))(t)
		agent := must.Get(p.OpenAgent(t.Context(), nil, spec, len(runs)))(t)
		if m := agent.Abilities().Measures; m == nil || !slices.Equal(m.Metrics, (&clocked{}).Metrics()) {
			t.Fatalf("%s: declared %+v", name, m)
		}
		out := must.Get(loop.Run(t.Context(), loop.Batch{Environment: env, Agent: agent, Runs: runs, Seeds: seed.NewSource(1, spec.ID),
			Steps: 10, Grid: []int{1, 2, 5, 10}, Discount: 1, Metrics: []result.Metric{result.Reward, "agent.*"}}))(t)
		for _, o := range out {
			if got := o.Curves["agent.steps"]; !slices.Equal(got, []float64{0, 1, 4, 9}) {
				t.Errorf("%s, run %d: agent.steps is %v", name, o.Run, got)
			}
			if got := o.Curves["agent.late"]; len(got) != 4 || !math.IsNaN(got[1]) || got[2] != 4 {
				t.Errorf("%s, run %d: agent.late is %v", name, o.Run, got)
			}
		}
	}
}

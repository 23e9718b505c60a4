package store

import (
	"testing"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/must"
)

// Runs are made by the same test as the report's, which knows the bounds of rewards: sums
// that cancel differ by rounding only.
func TestDecideKnowsTheTasks(t *testing.T) {
	p := must.Get(plan.Compile(plan.Config{
		Name: "x", Runs: 40, Steps: 10, Compare: &plan.Compare{Until: "decided"},
		Environments: []plan.Component{{Name: "e", Plugin: "p"}},
		Agents:       []plan.Component{{Name: "a", Plugin: "q"}, {Name: "b", Plugin: "q"}, {Name: "c", Plugin: "q"}},
	}))(t)
	dir := t.TempDir()
	low, high := -0.3, 0.3
	must.Do(t, Dir{Path: dir}.writeJSON(tasksFile, map[string]result.Task{"e": {RewardLow: &low, RewardHigh: &high}}))
	for agent, x := range map[string]float64{"a": 0, "b": 1e-17, "c": 1e-9} {
		curve := make([]float64, len(p.Grid))
		curve[0] = x
		for run := range p.Config.Runs {
			rec := result.Record{Environment: "e", Agent: agent, Run: run, Status: result.OK, Steps: 10,
				Curves: map[result.Metric][]float64{result.Reward: curve, result.DiscountedReturn: curve}}
			rec.Experiment = p.Meta().Experiments[result.Key{Environment: "e", Agent: agent}]
			must.Do(t, result.WriteRecords(dir, agent, []result.Record{rec}))
		}
	}
	decision := must.Get(Dir{Path: dir}.Decide(p))(t)
	for _, c := range decision.Progress {
		if want := map[string]string{"c": "c"}[c.A]; c.Better != want {
			t.Errorf("%s, want %q", c.String(), want)
		}
	}
}

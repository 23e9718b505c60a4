package mdp_test

import (
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// A sweep that is shared between processors gives the same solution.
func TestLargeModelsAgree(t *testing.T) {
	task := must.Get(catalog.GridWorld(catalog.Grid{Rows: 66, Cols: 66, Slip: 0.2, StepReward: -0.01, GoalReward: 1}))(t)
	var first *mdp.Solution
	for _, method := range []mdp.Method{mdp.ValueIteration, mdp.ModifiedPolicyIteration} {
		sol := must.Get(mdp.SolveDiscounted(task.Model, 0.9, mdp.SolverConfig{Method: method, Tolerance: 1e-5}))(t)
		if first == nil {
			first = sol
		}
		for s, v := range sol.Value {
			if !near(v, first.Value[s], sol.Bound+first.Bound) {
				t.Fatalf("method %d: value %v of state %d, value iteration %v", method, v, s, first.Value[s])
			}
		}
	}
	c := must.Get(mdp.Induce(task.Model, first.Policy))(t)
	v := must.Get(c.EvaluateDiscounted(0.9))(t)
	for s, x := range first.Value {
		if loss := x - v[s]; loss > 2*first.Bound+1e-8 {
			t.Fatalf("the policy loses %v in state %d", loss, s)
		}
	}
}

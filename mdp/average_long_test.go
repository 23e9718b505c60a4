package mdp_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// In a long river the biases of bad policies span more than 1e80, whose rounding hides
// the rewards. Then policy iteration must return an error, and the automatic choice must
// find the optimal gain, 3/7. Under right the far end of the river is a birth and death
// chain with ratio 7. In the last state the ratio is 0.35/0.4. (This is the limit of the
// checked 0.4285714286 at 20 states.)
func TestAverageOfALongRiver(t *testing.T) {
	for _, n := range []int{100, 200, 400} {
		task := must.Get(catalog.RiverSwim(n))(t)
		sol, err := mdp.SolveAverage(task.Model, mdp.SolverConfig{Method: mdp.PolicyIteration})
		if err == nil && math.Abs(sol.Gain[0]-3./7) > 1e-9 {
			t.Errorf("%d states: policy iteration is content with a gain of %v, bound %v", n, sol.Gain[0], sol.Bound)
		} else if err != nil && !errors.Is(err, mdp.ErrNotConverged) {
			t.Error(err)
		}
		sol, err = mdp.SolveAverage(task.Model, mdp.SolverConfig{})
		if err != nil || math.Abs(sol.Gain[0]-3./7) > 1e-8 {
			t.Errorf("%d states: gain %v, bound %v (%v), want 3/7", n, sol.Gain[0], sol.Bound, err)
		}
		// The bias still belongs to the policy. Its span grows by 10/7 per state,
		// 140.595238095 at 100, computed independently.
		_, bias, err := induced(t, task.Model, sol.Policy).EvaluateAverage()
		if want := 140.595238095 + float64(n-100)*10/7; err != nil || math.Abs(slices.Max(sol.Bias)-slices.Min(sol.Bias)-want) > 1e-6 {
			t.Errorf("%d states: span %v (%v), want %v", n, slices.Max(sol.Bias)-slices.Min(sol.Bias), err, want)
		}
		for s, h := range bias {
			if !near(sol.Bias[s], h, 1e-7) {
				t.Fatalf("%d states: bias %v of state %d, want %v", n, sol.Bias[s], s, h)
			}
		}
	}
}

func induced(t *testing.T, m mdp.Model, pi mdp.Policy) *mdp.Chain {
	t.Helper()
	return must.Get(mdp.Induce(m, pi))(t)
}

// By default models of more than 500 states are solved in few sweeps, as well as by policy iteration,
// also where the gain differs between states.
func TestDefaultMethodForTheAverage(t *testing.T) {
	for name, m := range models(t, 600) {
		got := must.Get(mdp.SolveAverage(m, mdp.SolverConfig{}))(t)
		want := must.Get(mdp.SolveAverage(m, mdp.SolverConfig{Method: mdp.PolicyIteration}))(t)
		if got.Sweeps > 400 {
			t.Errorf("%s: %d sweeps", name, got.Sweeps)
		}
		for s, g := range got.Gain {
			if !near(g, want.Gain[s], got.Bound+want.Bound) {
				t.Fatalf("%s: gain %v ± %v of state %d, by policy iteration %v ± %v", name, g, got.Bound, s, want.Gain[s], want.Bound)
			}
		}
	}
	apart := must.Get(mdp.Generate(mdp.Definition{States: 600, Actions: 1}, func(s, _ int, row *mdp.Row) {
		row.Add(s, 1)
		row.Reward(float64(s))
	}))(t)
	if got := must.Get(mdp.SolveAverage(apart, mdp.SolverConfig{}))(t); got.Gain[7] != 7 || got.Gain[599] != 599 {
		t.Errorf("states on their own have gains %v and %v", got.Gain[7], got.Gain[599])
	}
}

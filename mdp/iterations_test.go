package mdp_test

import (
	"errors"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// Solvers that iterate end at MaxIterations, with the error that says so.
func TestMaxIterations(t *testing.T) {
	task := must.Get(catalog.FourRooms(false))(t)
	again := must.Get(task.Model.Restarting())(t)
	const limit = 3
	for name, solve := range map[string]func(o mdp.SolverConfig) (*mdp.Solution, error){
		"discounted, value iteration": func(o mdp.SolverConfig) (*mdp.Solution, error) {
			o.Method = mdp.ValueIteration
			return mdp.SolveDiscounted(task.Model, 1-1e-9, o)
		},
		"discounted, modified policy iteration": func(o mdp.SolverConfig) (*mdp.Solution, error) {
			o.Method = mdp.ModifiedPolicyIteration
			return mdp.SolveDiscounted(task.Model, 1-1e-9, o)
		},
		"average, value iteration": func(o mdp.SolverConfig) (*mdp.Solution, error) {
			o.Method = mdp.ValueIteration
			return mdp.SolveAverage(again, o)
		},
	} {
		s, err := solve(mdp.SolverConfig{MaxIterations: limit})
		if !errors.Is(err, mdp.ErrNotConverged) || s == nil || s.Sweeps < limit || s.Sweeps > 100 {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
		if _, err := solve(mdp.SolverConfig{}); err != nil {
			t.Errorf("%s, by default: %v", name, err)
		}
	}
}

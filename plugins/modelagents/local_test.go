package modelagents

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// Sweeps that leave out what nothing has touched make the same steps and values, to the bit, as sweeps
// over all states: in a grid of 12 times 12 states with noise, ends and two runs.
func TestSweepsOfOutdatedStates(t *testing.T) {
	const side = 12
	spec := agenttest.Finite
	spec.Observation, spec.Action = space.Discrete{N: side * side}, space.Discrete{N: 4}
	for _, agent := range []string{"mbie-eb", "beb"} {
		x, plain := newAgent(t, agent, `{"gamma":0.9}`, spec), newAgent(t, agent, `{"gamma":0.9}`, spec).Design
		p := x.Planner.(*modelbased.Greedy)
		if !p.Local {
			t.Fatalf("%s sweeps over all states", agent)
		}
		all := &modelbased.Greedy{Model: plain.Construction.(modelbased.Optimism), Residual: p.Residual}
		plain.Planner = all
		y := modelbased.New(x.Task, plain)
		for run := range uint64(2) {
			x.Start(run)
			y.Start(run)
			rng := rand.New(rand.NewPCG(run, 1))
			row, col := 0, 0
			a, b := x.Begin(0), y.Begin(0)
			for step := range 1000 {
				if a != b || !slices.Equal(p.Q, all.Q) || !slices.Equal(p.Value, all.Value) || p.Sweeps != all.Sweeps {
					t.Fatalf("%s, run %d, step %d: action %d after %d sweeps, want %d after %d", agent, run, step, a, p.Sweeps, b, all.Sweeps)
				}
				if rng.IntN(10) == 0 {
					a = rng.IntN(4)
					x.Action, y.Action = a, a
				}
				switch a {
				case 0:
					row = max(0, row-1)
				case 1:
					row = min(side-1, row+1)
				case 2:
					col = max(0, col-1)
				default:
					col = min(side-1, col+1)
				}
				s, r := row*side+col, rng.Float64()*0.1
				if rng.IntN(50) == 0 {
					x.End(r, s, true)
					y.End(r, s, true)
					row, col = 0, 0
					a, b = x.Begin(0), y.Begin(0)
					continue
				}
				a, b = x.Step(r, s), y.Step(r, s)
			}
		}
	}
}

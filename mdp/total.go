package mdp

import (
	"fmt"
	"math"
)

// SolveTotal maximises the expected sum of all rewards until a terminal state is
// entered, without discount (a stochastic shortest path; Bertsekas & Tsitsiklis
// 1991). The model must have terminal states, and one of them must be reachable
// from everywhere. No policy may collect reward for ever without terminating.
// Otherwise the sweeps do not converge and ErrNotConverged is returned. The
// bound on the optimal value is +Inf, as there is none without further
// assumptions; Residual is the largest change in a last sweep.
func SolveTotal(m *Tabular, o Options) (*Solution, error) {
	if !m.HasTerminal() {
		return nil, fmt.Errorf("mdp: the total reward of a model without terminal states is not finite")
	}
	n := m.states
	limit, tolerance := o.MaxIterations, o.Tolerance
	if limit <= 0 {
		limit = 100_000
	}
	if tolerance <= 0 {
		tolerance = 1e-12 * largestReward(m)
	}
	sol := &Solution{Policy: make(Deterministic, n), Value: make([]float64, n), Bound: math.Inf(1)}
	v := sol.Value
	for sol.Sweeps < limit {
		change := 0.0
		for i := range n {
			s := i
			if sol.Sweeps&1 == 0 {
				s = n - 1 - i
			}
			q, a := m.best(s, 1, v)
			change = max(change, math.Abs(q-v[s]))
			v[s], sol.Policy[s] = q, a
		}
		sol.Sweeps++
		sol.Backups += n * m.actions
		sol.Residual = change
		if change <= tolerance {
			return sol, nil
		}
	}
	return sol, ErrNotConverged
}

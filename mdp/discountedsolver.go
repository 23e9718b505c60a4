package mdp

import (
	"fmt"
	"math"
)

// DiscountedSolver solves and evaluates discounted models one after the other, for
// an agent that learns its model. It iterates to a stated residual. Models and
// policies that have changed little cost little, and large ones cost much less than
// elimination. It keeps its memory. The zero value is ready. It is not safe for
// concurrent use.
type DiscountedSolver struct {
	linear krylov                                                              `snapshot:"-"` // memory alone
	best   func(s int, gamma float64, v []float64) (value float64, action int) // that of the model; nil: best
}

// Evaluate improves v, the values of policy π in m, 0 ≤ γ < 1. It has one place per
// state and may start with any numbers. Afterwards the error is at most
// residual/(1−γ) in each state; residual > 0 is in units of reward per step. It
// returns the residual that was reached, with ErrNotConverged if that is larger than
// asked, for instance because rounding allows no less.
//
// Each evaluation is GMRES, preconditioned by symmetric Gauss-Seidel (Saad 2003,
// §9.3 and §10.2). The residual is half of the span of r + γPv − v. Afterwards v is
// shifted to the middle of MacQueen's (1966) bounds.
func (d *DiscountedSolver) Evaluate(v []float64, m *Tabular, pi Deterministic, gamma, residual float64) (float64, error) {
	if err := checkDiscount(gamma); err != nil {
		return 0, err
	}
	if len(v) != m.states {
		return 0, fmt.Errorf("mdp: the value to start from has %d states, the model %d", len(v), m.states)
	}
	if err := m.checkPolicy(pi); err != nil {
		return 0, err
	}
	d.linear.set(m, pi, gamma, -1)
	half := d.linear.solve(v, gamma, residual, 100, 100)
	if !(half <= residual) {
		return half, ErrNotConverged
	}
	return half, nil
}

// Solve improves the policy π, and v, which may start with any numbers. Afterwards v
// is the optimal value of m up to residual/(1−γ) in each state. π is greedy for v and
// loses at most twice that. Residual and error are as in Evaluate.
//
// It is policy iteration whose evaluations are no more exact than the policy is good
// (Gargiani et al. 2023).
func (d *DiscountedSolver) Solve(v []float64, pi Deterministic, m *Tabular, gamma, residual float64) (float64, error) {
	if _, err := d.Evaluate(v, m, pi, gamma, math.Inf(1)); err != nil { // checks
		return 0, err
	}
	return d.solve(v, pi, m, gamma, residual, 1000, 100)
}

// solve is Solve. It gives up after stalls improvements that do not halve the residual;
// patience is that of the evaluations.
func (d *DiscountedSolver) solve(v []float64, pi Deterministic, m *Tabular, gamma, residual float64, stalls, patience int) (float64, error) {
	best := m.best
	if d.best != nil {
		best = d.best
	}
	half, least, exactness := math.Inf(1), math.Inf(1), 0.05
	for stalls > 0 {
		lo, hi := math.Inf(1), math.Inf(-1)
		for s := range v {
			q, a := best(s, gamma, v)
			if a != pi[s] && q > m.backup(s*m.actions+pi[s], gamma, v) {
				pi[s] = a
			}
			lo, hi = min(lo, q-v[s]), max(hi, q-v[s])
		}
		if half = (hi - lo) / 2; half <= residual {
			shift := (hi + lo) / 2 / (1 - gamma)
			for s := range v {
				v[s] += shift
			}
			return half, nil
		}
		if !(half <= least/2) { // as policy iteration may, but not for ever
			exactness /= 4
			stalls--
		}
		least = min(least, half)
		d.linear.set(m, pi, gamma, -1)
		d.linear.solve(v, gamma, max(residual/2, exactness*half), 100, patience)
	}
	return half, ErrNotConverged
}

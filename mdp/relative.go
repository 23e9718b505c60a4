package mdp

import (
	"fmt"
	"math"
)

// relativeValueIteration iterates h ← h + τ(Lh−h), less its value in state 0,
// where L is the undiscounted Bellman operator. For τ < 1 it converges whatever
// the periods, where the optimal gain is constant (Puterman 1994, §8.5.4 and
// §8.5.5).
//
// If the chain runs through long, nearly deterministic cycles, it needs as many sweeps as
// it takes to forget the phase. So Gauss-Seidel sweeps of h ← max_a (r − λ + Ph) follow
// each sweep. Here λ is in the middle of the bounds on the gain found so far. They carry
// values all along the cycle at once. If they do not help they are left out.
func (a *AverageSolver) relativeValueIteration(o SolverConfig, limit int) (*Solution, error) {
	const (
		tau      = 0.9
		sweeps   = 16 // of Gauss-Seidel after each of Jacobi
		patience = 20 // rounds without progress before those are left out
	)
	sol := &a.sol
	n := a.t.states
	d := &discounted{Tabular: a.t, gamma: 1, v: make([]float64, n), w: make([]float64, n)}
	d.sol.Policy = sol.Policy
	copy(d.v, sol.Bias) // of the previous solution
	if o.Value != nil {
		if len(o.Value) != n {
			return nil, fmt.Errorf("mdp: the value to start from has %d states, the model %d", len(o.Value), n)
		}
		copy(d.v, o.Value)
	}
	tolerance := o.Tolerance
	if tolerance <= 0 {
		tolerance = 1e-9 * largestReward(a.t)
	}
	below, above := math.Inf(-1), math.Inf(1) // bounds on the gain
	narrowest, since := math.Inf(1), 0
	lambda := 0.0
	relative := func(s int, v []float64) float64 {
		q, _ := d.best(s, 1, v)
		return q - lambda
	}
	err := ErrNotConverged
	for d.sol.Sweeps < limit {
		lo, hi := d.improve()
		below, above = max(below, lo), min(above, hi)
		noise := rounding(a.t, d.v)
		sol.Residual, sol.Bound = hi-lo, (hi-lo)/2+noise
		for s := range n {
			sol.Gain[s] = (lo + hi) / 2
		}
		if (hi-lo)/2 <= max(tolerance-noise, 2*noise) {
			err = nil
			break
		}
		if o.Progress != nil {
			o.Progress(d.sol.Sweeps, sol.Bound)
		}
		if since++; hi-lo < 0.9*narrowest {
			narrowest, since = hi-lo, 0
		}
		for s := range n {
			d.v[s] += tau * (d.w[s] - d.v[s])
		}
		if since < patience {
			lambda = (below + above) / 2
			for i := range sweeps {
				d.sweep(i&1 == 1, relative)
			}
			d.sol.Sweeps += sweeps
			d.sol.Backups += sweeps * n * a.t.actions
		}
		reference := d.v[0]
		for s := range d.v {
			d.v[s] -= reference
		}
	}
	copy(sol.Bias, d.v)
	sol.Sweeps, sol.Improvements, sol.Backups = d.sol.Sweeps, d.sol.Improvements, d.sol.Backups
	return sol, err
}

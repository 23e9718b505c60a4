package mdp

import (
	"fmt"
	"math"

	"github.com/rlrun/rlrun/internal/induction"
)

// FiniteSolution is an optimal policy for a finite number of steps.
type FiniteSolution struct {
	// Value[h][s] is the largest expected sum of h rewards from s, h = 0..horizon.
	Value [][]float64
	// Policy[h][s] is the action to take in s with h steps to go, h = 1..horizon;
	// Policy[0] is nil.
	Policy []Deterministic
}

// SolveFinite maximises the expected sum of the next horizon rewards by backward
// induction (Puterman 1994, §4.5). Memory is horizon × S values and actions; see
// SolveHorizon for the value alone.
func SolveFinite(m Model, horizon int) (*FiniteSolution, error) {
	var f FiniteSolver
	return f.Solve(m, horizon)
}

// FiniteSolver solves models over finite horizons one after the other, for an agent
// that plans for every episode. It keeps its memory, so solving a Tabular of the
// same size again does not allocate. The zero value is ready.
type FiniteSolver struct{ sol FiniteSolution }

// Solve is SolveFinite. The solution is valid until the next call.
func (f *FiniteSolver) Solve(m Model, horizon int) (*FiniteSolution, error) {
	if horizon < 0 {
		return nil, fmt.Errorf("mdp: horizon %d is negative", horizon)
	}
	t := tabular(m)
	if err := checkRange(t, float64(horizon)); err != nil {
		return nil, err
	}
	sol := &f.sol
	if len(sol.Value) != horizon+1 || len(sol.Value[0]) != t.states {
		*sol = FiniteSolution{Value: make([][]float64, horizon+1), Policy: make([]Deterministic, horizon+1)}
		sol.Value[0] = make([]float64, t.states)
		for h := 1; h <= horizon; h++ {
			sol.Value[h], sol.Policy[h] = make([]float64, t.states), make(Deterministic, t.states)
		}
	}
	induction.Backward(sol.Value, horizon, func(h int, dst, next []float64) bool {
		t.induct(dst, sol.Policy[h], next)
		return false
	})
	return sol, nil
}

// SolveHorizon returns the largest expected sum of the next horizon rewards from
// each state, and the best first action. Of a model whose episodes end, it is the total
// reward if the horizon is long enough. Once every step adds the same to all states, it
// adds further steps, of 1,000,000 or more, at once: to an error of 1e-9 of the largest
// value.
func SolveHorizon(m Model, horizon int) ([]float64, Deterministic, error) {
	if horizon < 0 {
		return nil, nil, fmt.Errorf("mdp: horizon %d is negative", horizon)
	}
	t := tabular(m)
	if err := checkRange(t, float64(horizon)); err != nil {
		return nil, nil, err
	}
	p := make(Deterministic, t.states)
	return overHorizon(horizon, t.states, func(dst, v []float64) { t.induct(dst, p, v) }), p, nil
}

// overHorizon returns the values of states over a horizon. backup makes a step: it writes
// the values after it into dst.
func overHorizon(horizon, states int, backup func(dst, v []float64)) []float64 {
	layers := [][]float64{make([]float64, states), make([]float64, states)}
	return induction.Backward(layers, horizon, func(h int, dst, v []float64) bool {
		backup(dst, v)
		return extend(dst, v, horizon-h)
	})
}

// manyLeft is the number of steps from which on extend makes an error.
const manyLeft = 1_000_000

// extend adds left further steps to the values v. before are the values one step
// earlier. It does so only if that step added nearly the same in all states: if it
// added between lo and hi, each further one does, too (Puterman 1994, Theorem
// 8.5.5). Else it returns false. The error is at most 1e-9 of the largest value;
// there is none if nothing was added or fewer than manyLeft steps are left.
func extend(v, before []float64, left int) bool {
	lo, hi := math.Inf(1), math.Inf(-1)
	for s, x := range v {
		lo, hi = min(lo, x-before[s]), max(hi, x-before[s])
	}
	if lo == 0 && hi == 0 {
		return true
	}
	step, k := (lo+hi)/2, float64(left)
	if left < manyLeft || (hi-lo)/2*k > 1e-9*(k*math.Abs(step)-maxAbs(v)) {
		return false
	}
	for s := range v {
		v[s] += k * step
	}
	return true
}

// induct writes the best undiscounted backup of v into dst and its action into p.
func (m *Tabular) induct(dst []float64, p Deterministic, v []float64) {
	if numBlocks(m.states) == 1 { // without the allocation of a closure
		for s := range dst {
			dst[s], p[s] = m.best(s, 1, v)
		}
		return
	}
	blocks(m.states, func(_, from, to int) {
		for s := from; s < to; s++ {
			dst[s], p[s] = m.best(s, 1, v)
		}
	})
}

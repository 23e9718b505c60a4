package mdp

import "fmt"

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
	if horizon < 0 {
		return nil, fmt.Errorf("mdp: horizon %d is negative", horizon)
	}
	t := tabular(m)
	out := &FiniteSolution{Value: [][]float64{make([]float64, t.states)}, Policy: []Deterministic{nil}}
	for h := range horizon {
		v, p := make([]float64, t.states), make(Deterministic, t.states)
		t.induct(v, p, out.Value[h])
		out.Value, out.Policy = append(out.Value, v), append(out.Policy, p)
	}
	return out, nil
}

// SolveHorizon returns the largest expected sum of the next horizon rewards from
// each state, and the best first action.
func SolveHorizon(m Model, horizon int) ([]float64, Deterministic, error) {
	if horizon < 0 {
		return nil, nil, fmt.Errorf("mdp: horizon %d is negative", horizon)
	}
	t := tabular(m)
	v, w, p := make([]float64, t.states), make([]float64, t.states), make(Deterministic, t.states)
	for range horizon {
		t.induct(w, p, v)
		v, w = w, v
	}
	return v, p, nil
}

// induct writes the best undiscounted backup of v into dst and its action into p.
func (m *Tabular) induct(dst []float64, p Deterministic, v []float64) {
	blocks(m.states, func(_, from, to int) {
		for s := from; s < to; s++ {
			dst[s], p[s] = m.best(s, 1, v)
		}
	})
}

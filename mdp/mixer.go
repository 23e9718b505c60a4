package mdp

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// mixer is the work of one MixingTime.
type mixer struct {
	Mixing
	c         *Chain
	threshold float64 // of the norm, 2η
	limit     int
	pairs     []Pair // one row per pair with ν ≠ 0
	v         [][]float64
}

// deviations makes the rows ν and decides which are never forgotten.
func (w *mixer) deviations(m Model) error {
	n, actions := m.NumStates(), m.NumActions()
	f, err := w.c.fate(w.Structure)
	if err != nil {
		return err
	}
	v := newScatter(n)
	w.T, w.Limit = make([][]int, n), make([][]float64, n)
	for s := range n {
		w.T[s], w.Limit[s] = make([]int, actions), make([]float64, actions)
		for a := range actions {
			if !available(m, s, a) {
				continue
			}
			index, value := deviation(m, w.c, s, a, v)
			if len(index) == 0 {
				w.T[s][a] = 1
				continue
			}
			dense := make([]float64, n)
			for k, t := range index {
				dense[t] = value[k]
			}
			w.pairs = append(w.pairs, Pair{s, a})
			w.v = append(w.v, dense)
			limit, perSlot := f.norm(index, value)
			w.Limit[s][a] = limit / float64(n)
			if limit >= w.threshold*(1-knifeEdge) {
				w.T[s][a] = Never
				w.Infinite++
				if w.Why == nil {
					if why := f.explain(perSlot); why != nil {
						why.Why = fmt.Sprintf("taking action %d in state %d is never forgotten, %s", a, s, why.Why)
						w.Why = why
					}
				}
			}
		}
	}
	return nil
}

// run propagates the rows until every finite time is found.
func (w *mixer) run() error {
	const chunk = 16
	n := w.c.NumStates()
	steps := w.limit
	if n <= liftLimit {
		steps = 256
	}
	norms := make([]float64, len(w.v)*chunk)
	for t := 1; t <= steps; t += chunk {
		active := w.active()
		if len(active) == 0 {
			return nil
		}
		blocks(len(active)*n, func(_, from, to int) { // as many parts as the work is worth
			next := make([]float64, n)
			for _, i := range active[from/n : to/n] {
				for k := range chunk {
					norms[i*chunk+k] = norm1(w.v[i])
					w.c.Propagate(next, w.v[i])
					w.v[i], next = next, w.v[i]
				}
			}
		})
		for k := range chunk {
			for _, i := range active {
				p := w.pairs[i]
				if w.T[p.S][p.A] == 0 && norms[i*chunk+k] < w.threshold {
					w.T[p.S][p.A] = t + k
				}
			}
		}
	}
	active := w.active()
	if len(active) == 0 {
		return nil
	}
	if n > liftLimit {
		for _, i := range active {
			w.T[w.pairs[i].S][w.pairs[i].A] = Never
		}
		return ErrNotConverged
	}
	return w.lift(active, steps)
}

// active returns the rows whose time is not known.
func (w *mixer) active() []int {
	var out []int
	for i, p := range w.pairs {
		if w.T[p.S][p.A] == 0 {
			out = append(out, i)
		}
	}
	return out
}

// lift finds the remaining times; rows have been propagated over t steps, to
// distance d_(t+1).
func (w *mixer) lift(active []int, t int) error {
	v := mat.NewDense(len(active), w.c.NumStates(), nil)
	groups := make([][]int, len(active))
	for k, i := range active {
		v.SetRow(k, w.v[i])
		groups[k] = []int{k}
	}
	var err error
	for k, extra := range newLifter(w.c).steps(v, groups, func(k int, norms []float64) bool { return norms[k] >= w.threshold }) {
		p := w.pairs[active[k]]
		if w.T[p.S][p.A] = Never; extra != Never {
			w.T[p.S][p.A] = t + 1 + extra
		} else {
			err = ErrNotConverged
		}
	}
	return err
}

// summarise fills in the maximum and the mean.
func (w *mixer) summarise(model Model, pi Policy) {
	for _, p := range w.pairs {
		if t := w.T[p.S][p.A]; t > w.Max {
			w.Max, w.MaxAt = t, p
		}
	}
	w.MeanNonGreedy = math.NaN()
	if !w.Structure.Unichain() {
		return
	}
	w.Stationary = make([]float64, w.c.NumStates())
	w.c.gth(w.Stationary, w.Structure.Classes[w.Structure.Closed[0]])
	sum, total := 0.0, 0.0 // total is the probability of states with two actions
	taken := make([]float64, model.NumActions())
	for s, x := range w.Stationary {
		Distribution(taken, model, pi, s)
		var others []int
		for a, p := range taken {
			if p != 0 && p != 1 {
				return // the policy is randomised
			}
			if p == 0 && available(model, s, a) {
				others = append(others, a)
			}
		}
		if x == 0 || len(others) == 0 {
			continue
		}
		total += x
		for _, a := range others {
			t := float64(w.T[s][a])
			if w.T[s][a] == Never {
				t = math.Inf(1)
			}
			sum += x / float64(len(others)) * t
		}
	}
	if total > 0 {
		w.MeanNonGreedy = sum / total
	}
}

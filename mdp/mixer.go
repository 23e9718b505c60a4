package mdp

import (
	"fmt"
	"math"
	"slices"

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
	row       map[Pair]int
	mean      [2]meanOf
}

// meanOf is a weighted mean of the norms of all rows.
type meanOf struct {
	defined bool
	weight  []float64 // per row
	rest    float64   // weight of the pairs with ν = 0
	time    int       // when it falls below the threshold; 0 as long as it has not
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
			w.row[Pair{s, a}] = len(w.pairs)
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

// means sets the weights of the two means.
func (w *mixer) means(model Model, pi Policy) {
	w.MeanNonGreedy, w.MeanUniform = math.NaN(), math.NaN()
	if !w.Structure.Unichain() {
		return
	}
	mu := make([]float64, w.c.NumStates())
	w.c.gth(mu, w.Structure.Classes[w.Structure.Closed[0]])
	w.Stationary = mu
	uniform, greedy := &w.mean[0], &w.mean[1]
	uniform.defined = true
	uniform.weight, greedy.weight = make([]float64, len(w.pairs)), make([]float64, len(w.pairs))
	taken := make([]float64, model.NumActions())
	deviates := false // somewhere
	idle := 0.0       // probability of states with one action, which have no deviation
	greedy.defined = true
	for s, x := range mu {
		Distribution(taken, model, pi, s)
		has := 0.0
		for a := range taken {
			if available(model, s, a) {
				has++
			}
		}
		if has == 1 {
			idle += x
		} else {
			deviates = deviates || x > 0
		}
		for a, p := range taken {
			if p != 0 && p != 1 {
				greedy.defined = false
			}
			if !available(model, s, a) {
				continue
			}
			add := func(m *meanOf, weight float64) {
				if i, ok := w.row[Pair{s, a}]; ok {
					m.weight[i] += weight
				} else {
					m.rest += weight
				}
			}
			add(uniform, x/has)
			if p == 0 {
				add(greedy, x/(has-1))
			}
		}
	}
	for i := range greedy.weight {
		greedy.weight[i] /= 1 - idle
	}
	greedy.rest /= 1 - idle
	greedy.defined = greedy.defined && deviates
	for k := range w.mean {
		m := &w.mean[k]
		limit := 0.0
		for i, p := range w.pairs {
			if m.defined {
				limit += m.weight[i] * w.Limit[p.S][p.A]
			}
		}
		switch {
		case limit >= w.Epsilon*(1-knifeEdge):
			m.time = Never
		case !slices.ContainsFunc(m.weight, func(x float64) bool { return x > 0 }):
			m.time = 1
		}
	}
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
			w.testMeans(t+k, func(i int) float64 { return norms[i*chunk+k] })
		}
	}
	active := w.active()
	if len(active) == 0 {
		return nil
	}
	if n > liftLimit {
		for _, i := range active {
			if p := w.pairs[i]; w.T[p.S][p.A] == 0 {
				w.T[p.S][p.A] = Never
			}
		}
		return ErrNotConverged
	}
	return w.lift(active, steps)
}

// active returns the rows that some time still depends on.
func (w *mixer) active() []int {
	var out []int
	for i, p := range w.pairs {
		wanted := w.T[p.S][p.A] == 0
		for k := range w.mean {
			wanted = wanted || w.mean[k].pending() && w.mean[k].weight[i] > 0
		}
		if wanted {
			out = append(out, i)
		}
	}
	return out
}

func (m *meanOf) pending() bool { return m.defined && m.time == 0 }

// testMeans sets the time of the means that are below the threshold at time t.
func (w *mixer) testMeans(t int, norm func(row int) float64) {
	for k := range w.mean {
		m := &w.mean[k]
		if !m.pending() {
			continue
		}
		sum := 0.0
		for i, x := range m.weight {
			if x > 0 {
				sum += x * norm(i)
			}
		}
		if sum < w.threshold {
			m.time = t
		}
	}
}

// lift finds the remaining times; rows have been propagated over t steps, to
// distance d_(t+1).
func (w *mixer) lift(active []int, t int) error {
	l := newLifter(w.c)
	v := mat.NewDense(len(active), w.c.NumStates(), nil)
	var groups [][]int
	for k, i := range active {
		v.SetRow(k, w.v[i])
		if p := w.pairs[i]; w.T[p.S][p.A] == 0 {
			groups = append(groups, []int{k})
		}
	}
	var err error
	for g, extra := range l.steps(v, groups, func(g int, norms []float64) bool { return norms[groups[g][0]] >= w.threshold }) {
		p := w.pairs[active[groups[g][0]]]
		if w.T[p.S][p.A] = Never; extra != Never {
			w.T[p.S][p.A] = t + 1 + extra
		} else {
			err = ErrNotConverged
		}
	}
	for k := range w.mean {
		m := &w.mean[k]
		if !m.pending() {
			continue
		}
		var all []int
		for k, i := range active {
			if m.weight[i] > 0 {
				all = append(all, k)
			}
		}
		extra := l.steps(v, [][]int{all}, func(_ int, norms []float64) bool {
			sum := 0.0
			for _, k := range all {
				sum += m.weight[active[k]] * norms[k]
			}
			return sum >= w.threshold
		})[0]
		if m.time = Never; extra != Never {
			m.time = t + 1 + extra
		} else {
			err = ErrNotConverged
		}
	}
	return err
}

// summarise fills in the maximum and the means.
func (w *mixer) summarise() {
	sums := [2]float64{w.mean[0].rest, w.mean[1].rest}
	for i, p := range w.pairs {
		t := w.T[p.S][p.A]
		if t > w.Max {
			w.Max, w.MaxAt = t, p
		}
		for k := range w.mean {
			if !w.mean[k].defined || w.mean[k].weight[i] == 0 {
				continue
			}
			if t == Never {
				sums[k] = math.Inf(1)
			} else {
				sums[k] += w.mean[k].weight[i] * float64(t)
			}
		}
	}
	if w.mean[0].defined {
		w.MeanUniform, w.OfMeanUniform = sums[0], w.mean[0].time
	}
	if w.mean[1].defined {
		w.MeanNonGreedy, w.OfMeanNonGreedy = sums[1], w.mean[1].time
	}
}

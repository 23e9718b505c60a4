package mdp

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Never is the time of what does not happen.
const Never = math.MaxInt

// knifeEdge is how close, relatively, a limit and the threshold may come before
// roundoff decides which is larger. They then count as equal: Never.
const knifeEdge = 1e-12

// MixingOptions say when a deviation counts as forgotten. The zero value is
// useful.
type MixingOptions struct {
	// Eta is the total variation below which a deviation is forgotten, in (0,1].
	// Default 0.25.
	Eta float64
	// Epsilon, if positive, gives the threshold in the paper's scale instead, where
	// distances are divided by the number of states: η = ε|S|/2.
	Epsilon float64
	// MaxSteps limits the steps for chains of more than 512 states, which are
	// stepped through one by one. Default 100,000.
	MaxSteps int
}

// thresholds returns η and ε.
func (o MixingOptions) thresholds(states int) (eta, epsilon float64, err error) {
	n := float64(states)
	switch {
	case o.Epsilon != 0:
		eta, epsilon = o.Epsilon*n/2, o.Epsilon
	case o.Eta != 0:
		eta, epsilon = o.Eta, 2*o.Eta/n
	default:
		eta, epsilon = 0.25, 0.5/n
	}
	// Distances are computed to about 1e-14.
	if !(eta >= 1e-12) || math.IsInf(eta, 0) {
		return 0, 0, fmt.Errorf("mdp: the threshold η = %v is not at least 1e-12", eta)
	}
	return eta, epsilon, nil
}

// Mixing holds exploration mixing times (docs/theory.md §2.1): T(s,a) is the first
// T ≥ 1 with ½‖(P(·|s,a) − P_π(s,·)) P_π^(T−1)‖₁ < η, the number of steps after
// which having taken action a once in s, instead of following π, is forgotten.
type Mixing struct {
	Eta, Epsilon float64 // the threshold in total variation, and in the paper's scale, ε = 2η/|S|
	// T[s][a] is the mixing time, Never when the deviation is never forgotten.
	T [][]int
	// Limit[s][a] is d_∞, the paper's distance (1/|S|)‖·‖₁ in the limit: T[s][a] is
	// Never exactly if it is at least ε.
	Limit [][]float64
	Max   int  // the largest T
	MaxAt Pair // where
	// Means of T over states under the stationary distribution of π, and over the
	// actions that π does not take, the paper's "expected number" (NaN when π is
	// randomised or there is but one action), or over all actions. +Inf if a
	// deviation of positive weight is never forgotten. NaN when the stationary
	// distribution is not unique; see Stationary.
	MeanNonGreedy, MeanUniform float64
	// The first T at which the same means of the distance itself are below the
	// threshold; 0 where the mean is NaN.
	OfMeanNonGreedy, OfMeanUniform int
	Infinite                       int       // how many T are Never
	Why                            error     // the reason why the first of them is; nil when there is none
	Stationary                     []float64 // nil when it is not unique
	Structure                      *Structure
}

// MixingTime returns the exploration mixing time of every state and action under
// policy π. It is exact: distances are propagated step by step, from 257 steps on
// in chains of up to 512 states by binary lifting, so that times of 1e9 are
// found as well; infinite times are recognised by the classes and phases of the
// chain. Memory is A·S² numbers, so S is limited to 2000; see SampleMixing.
// ErrNotConverged comes with a result in which the times not reached are Never.
func MixingTime(m Model, pi Policy, o MixingOptions) (*Mixing, error) {
	n, actions := m.NumStates(), m.NumActions()
	if n > denseLimit {
		return nil, fmt.Errorf("mdp: all mixing times are for up to %d states, not %d; sample them", denseLimit, n)
	}
	eta, epsilon, err := o.thresholds(n)
	if err != nil {
		return nil, err
	}
	c, err := Induce(m, pi)
	if err != nil {
		return nil, err
	}
	w := &mixer{c: c, threshold: 2 * eta, limit: o.MaxSteps, row: map[Pair]int{}}
	if w.limit <= 0 {
		w.limit = 100_000
	}
	w.Mixing = Mixing{Eta: eta, Epsilon: epsilon, Structure: c.Structure(), Max: 1}
	w.deviations(m)
	w.means(pi, actions)
	err = w.run()
	w.summarise()
	return &w.Mixing, err
}

// Forgetting returns the distances d_1, d_2, …, d_steps of (s,a) in the paper's
// scale, (1/|S|)‖(P(·|s,a) − P_π(s,·)) P_π^(T−1)‖₁. They do not increase.
func Forgetting(m Model, pi Policy, s, a, steps int) ([]float64, error) {
	n := m.NumStates()
	if s < 0 || s >= n || a < 0 || a >= m.NumActions() {
		return nil, fmt.Errorf("mdp: no state %d with an action %d", s, a)
	}
	c, err := Induce(m, pi)
	if err != nil {
		return nil, err
	}
	index, value := deviation(m, c, s, a, newScatter(n))
	v, next := make([]float64, n), make([]float64, n)
	for k, t := range index {
		v[t] = value[k]
	}
	d := make([]float64, steps)
	for t := range d {
		if t > 0 {
			c.Propagate(next, v)
			v, next = next, v
		}
		d[t] = norm1(v) / float64(n)
	}
	return d, nil
}

// norm1 returns Σ|v|.
func norm1(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += math.Abs(x)
	}
	return sum
}

// deviation returns ν = P(·|s,a) − P_π(s,·).
func deviation(m Model, c *Chain, s, a int, v *scatter) ([]int32, []float64) {
	next, prob := m.Transition(s, a)
	for k, t := range next {
		v.add(t, prob[k])
	}
	next, prob = c.Row(s)
	for k, t := range next {
		v.add(t, -prob[k])
	}
	return v.drain(nil, nil)
}

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
func (w *mixer) deviations(m Model) {
	n, actions := m.NumStates(), m.NumActions()
	f := w.c.fate(w.Structure)
	v := newScatter(n)
	w.T, w.Limit = make([][]int, n), make([][]float64, n)
	for s := range n {
		w.T[s], w.Limit[s] = make([]int, actions), make([]float64, actions)
		for a := range actions {
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
}

// means sets the weights of the two means.
func (w *mixer) means(pi Policy, actions int) {
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
	taken := make([]float64, actions)
	greedy.defined = actions > 1
	for s, x := range mu {
		pi.Distribution(taken, s)
		for a, p := range taken {
			if p != 0 && p != 1 {
				greedy.defined = false
			}
			add := func(m *meanOf, weight float64) {
				if i, ok := w.row[Pair{s, a}]; ok {
					m.weight[i] += weight
				} else {
					m.rest += weight
				}
			}
			add(uniform, x/float64(actions))
			if p == 0 {
				add(greedy, x/float64(actions-1))
			}
		}
	}
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

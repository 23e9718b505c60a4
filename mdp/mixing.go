package mdp

import (
	"fmt"
	"math"
)

// Never is the time of what does not happen.
const Never = math.MaxInt

// knifeEdge is how close, relatively, a limit and the threshold may come before
// roundoff decides which is larger. They then count as equal: Never.
const knifeEdge = 1e-12

// MixingConfig says when a deviation counts as forgotten. The zero value is
// useful.
type MixingConfig struct {
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
func (o MixingConfig) thresholds(states int) (eta, epsilon float64, err error) {
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

// Mixing holds exploration mixing times (docs/theory.md §2.1): T(s,a) is the first T ≥ 1
// with ½‖(P(·|s,a) − P_π(s,·)) P_π^(T−1)‖₁ < η. This is the number of steps
// after which one action a in s, taken instead of following π, is forgotten.
type Mixing struct {
	Eta, Epsilon float64 // the threshold in total variation, and in the paper's scale, ε = 2η/|S|
	// T[s][a] is the mixing time, Never when the deviation is never forgotten, and 0 where
	// the state lacks the action.
	T [][]int
	// Limit[s][a] is d_∞, the paper's distance (1/|S|)‖·‖₁ in the limit: T[s][a] is
	// Never exactly if it is at least ε.
	Limit [][]float64
	Max   int  // the largest T
	MaxAt Pair // where
	// MeanNonGreedy is the mean of T over states under the stationary distribution of π and
	// over the actions that π does not take, the paper's "expected number". It is +Inf if a deviation
	// of positive weight is never forgotten. It is NaN when π is randomised, no state that it visits
	// has two actions, or the stationary distribution is not unique; see Stationary.
	MeanNonGreedy float64
	Infinite      int        // how many T are Never
	Why           error      // the reason why the first of them is; nil when there is none
	Stationary    []float64  // nil when it is not unique
	Structure     *Structure // of the policy's chain
}

// MixingTime returns the exploration mixing time of every state and action under
// policy π. It is exact: distances are propagated step by step. From 257 steps
// on, in chains of up to 512 states, binary lifting also finds times of 1e9.
// Infinite times are recognised by the classes and phases of the chain. Memory is
// A·S² numbers, so S is limited to 2000; see SampleMixing. ErrNotConverged comes
// with a result in which the times not reached are Never.
func MixingTime(m Model, pi Policy, o MixingConfig) (*Mixing, error) {
	n := m.NumStates()
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
	w := &mixer{c: c, threshold: 2 * eta, limit: o.MaxSteps}
	if w.limit <= 0 {
		w.limit = 100_000
	}
	w.Mixing = Mixing{Eta: eta, Epsilon: epsilon, Structure: c.Structure(), Max: 1}
	if err := w.deviations(m); err != nil {
		return nil, err
	}
	err = w.run()
	w.summarise(m, pi)
	return &w.Mixing, err
}

// Forgetting returns the distances d_1, d_2, …, d_steps of (s,a) in the paper's
// scale, (1/|S|)‖(P(·|s,a) − P_π(s,·)) P_π^(T−1)‖₁. They do not increase.
func Forgetting(m Model, pi Policy, s, a, steps int) ([]float64, error) {
	n := m.NumStates()
	if s < 0 || s >= n || a < 0 || a >= m.NumActions() || !available(m, s, a) {
		return nil, fmt.Errorf("mdp: no state %d with an action %d", s, a)
	}
	if steps < 0 {
		return nil, fmt.Errorf("mdp: the number of steps %d is negative", steps)
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

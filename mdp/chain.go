package mdp

import (
	"fmt"
	"slices"
)

// Policy is a stationary policy, π(a|s): the probability of action a in state s.
type Policy interface {
	// Distribution writes π(·|s) into dst, which has one place per action.
	Distribution(dst []float64, s int)
}

// Deterministic is the policy that takes action p[s] in state s.
type Deterministic []int

// Distribution implements Policy.
func (p Deterministic) Distribution(dst []float64, s int) {
	clear(dst)
	if a := p[s]; a >= 0 && a < len(dst) {
		dst[a] = 1
	} // otherwise all zero, which Induce reports
}

// Randomised is the policy that takes action a in state s with probability
// p[s][a].
type Randomised [][]float64

// Distribution implements Policy.
func (p Randomised) Distribution(dst []float64, s int) {
	if copy(dst, p[s]) != len(p[s]) || len(p[s]) != len(dst) {
		clear(dst)
	}
}

// Uniform is the policy that takes every action of a state with equal probability.
type Uniform struct{}

// Distribution implements Policy, for a state that has all actions; see the function
// Distribution.
func (Uniform) Distribution(dst []float64, _ int) {
	for a := range dst {
		dst[a] = 1 / float64(len(dst))
	}
}

// Constant returns the policy that takes action a in each of n states.
func Constant(n, a int) Deterministic {
	p := make(Deterministic, n)
	for s := range p {
		p[s] = a
	}
	return p
}

// Chain is the Markov chain, with rewards, that a policy makes of a model. Its
// rows are sparse. It is immutable and safe for concurrent use.
type Chain struct {
	start  []int
	next   []int32
	prob   []float64
	reward []float64
}

// Induce returns the chain of policy π in model m. It fails when π is not a
// policy of m: too few states, an action out of range or one that the state lacks, or
// probabilities that do not sum to one.
func Induce(m Model, pi Policy) (*Chain, error) {
	n, actions := m.NumStates(), m.NumActions()
	switch p := pi.(type) {
	case Deterministic:
		if len(p) != n {
			return nil, fmt.Errorf("mdp: the policy has %d states, the model %d", len(p), n)
		}
	case Randomised:
		if len(p) != n {
			return nil, fmt.Errorf("mdp: the policy has %d states, the model %d", len(p), n)
		}
	}
	c := &Chain{start: make([]int, 1, n+1), reward: make([]float64, n)}
	if t, ok := m.(*Tabular); ok {
		c.next = make([]int32, 0, len(t.next)/actions)
		c.prob = make([]float64, 0, len(t.next)/actions)
	}
	w := make([]float64, actions)
	dense := newScatter(n)
	for s := range n {
		Distribution(w, m, pi, s)
		if _, err := checkRow(w, 1e-8); err != nil {
			return nil, fmt.Errorf("mdp: policy in state %d: %w", s, err)
		}
		only := -1
		for a, p := range w {
			if !(p >= 0) {
				return nil, fmt.Errorf("mdp: policy in state %d: probability %v of action %d", s, p, a)
			}
			if p > 0 && !available(m, s, a) {
				return nil, fmt.Errorf("mdp: policy: state %d has no action %s", s, m.(*Tabular).action(a))
			}
			if p > 0 {
				c.reward[s] += p * m.Reward(s, a)
				if only = a; p < 1 {
					only = -1
				}
			}
		}
		if only >= 0 { // copies a row
			next, prob := m.Transition(s, only)
			c.next, c.prob = append(c.next, next...), append(c.prob, prob...)
		} else {
			for a, p := range w {
				if p > 0 {
					next, prob := m.Transition(s, a)
					for k, t := range next {
						dense.add(t, p*prob[k])
					}
				}
			}
			c.next, c.prob = dense.drain(c.next, c.prob)
		}
		c.start = append(c.start, len(c.next))
	}
	return c, nil
}

// NumStates returns the number of states.
func (c *Chain) NumStates() int { return len(c.reward) }

// Row returns P(s,·) as successors and probabilities, which must not be
// written to.
func (c *Chain) Row(s int) (next []int32, prob []float64) {
	lo, hi := c.start[s], c.start[s+1]
	return c.next[lo:hi:hi], c.prob[lo:hi:hi]
}

// Reward returns the expected reward in state s.
func (c *Chain) Reward(s int) float64 { return c.reward[s] }

// Propagate writes src·P, the distribution (or signed measure) one step after
// src, into dst. The slices have one place per state and do not overlap.
func (c *Chain) Propagate(dst, src []float64) {
	if len(dst) != len(c.reward) || len(src) != len(c.reward) {
		panic("mdp: bad vector length")
	}
	clear(dst)
	for s, x := range src {
		if x != 0 {
			lo, hi := c.start[s], c.start[s+1]
			prob := c.prob[lo:hi]
			for k, t := range c.next[lo:hi] {
				dst[t] += x * prob[k]
			}
		}
	}
}

// expect returns Σ_s' P(s,s') v(s').
func (c *Chain) expect(s int, v []float64) float64 {
	lo, hi := c.start[s], c.start[s+1]
	prob := c.prob[lo:hi]
	sum := 0.0
	for k, t := range c.next[lo:hi] {
		sum += prob[k] * v[t]
	}
	return sum
}

// expectation returns Σ_s' P(s'|s,a) v(s').
func expectation(m Model, s, a int, v []float64) float64 {
	next, prob := m.Transition(s, a)
	sum := 0.0
	for k, t := range next {
		sum += prob[k] * v[t]
	}
	return sum
}

// scatter accumulates a sparse vector; its cost is that of its support.
type scatter struct {
	value   []float64
	present []bool
	support []int32
}

func newScatter(n int) *scatter {
	return &scatter{value: make([]float64, n), present: make([]bool, n)}
}

func (v *scatter) add(i int32, x float64) {
	if !v.present[i] {
		v.present[i] = true
		v.support = append(v.support, i)
	}
	v.value[i] += x
}

// drain appends the nonzero entries in increasing order and empties the vector.
func (v *scatter) drain(index []int32, value []float64) ([]int32, []float64) {
	slices.Sort(v.support)
	for _, i := range v.support {
		if x := v.value[i]; x != 0 {
			index, value = append(index, i), append(value, x)
		}
		v.value[i], v.present[i] = 0, false
	}
	v.support = v.support[:0]
	return index, value
}

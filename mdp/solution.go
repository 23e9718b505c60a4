package mdp

import (
	"fmt"
	"math"
	"runtime"
	"sync"

	"gonum.org/v1/gonum/floats"
)

// Method is an algorithm for solving a model.
type Method int

// discountedLimit and averageLimit are the numbers of states up to which Automatic means
// policy iteration.
const (
	discountedLimit = 100
	averageLimit    = 500
)

// The methods. For a discount, Automatic takes policy iteration for up to 100 states. Beyond,
// it takes modified policy iteration: with Jacobi sweeps where policies mix fast, else with
// Gauss-Seidel sweeps. If many of these would be left at the rate so far, or if states only
// lead to close ones, it goes on with policy iteration whose evaluations are inexact, as
// DiscountedSolver does. For the average, it takes policy iteration for up to 500 states, and
// for up to 2000 if the model is not weakly communicating. Beyond, it takes relative value
// iteration.
const (
	Automatic Method = iota
	// ValueIteration makes Gauss-Seidel sweeps in alternating directions
	// (discounted), or is relative value iteration with the aperiodicity
	// transformation (average; Puterman 1994, §8.5.4 and §8.5.5).
	ValueIteration
	// ModifiedPolicyIteration makes a few evaluation sweeps between improvements
	// (Puterman & Shin 1978). Discounted only.
	ModifiedPolicyIteration
	// PolicyIteration evaluates every policy exactly (Howard 1960; for the average
	// criterion the multichain algorithm of Puterman 1994, §9.2). For models of
	// up to 2000 states.
	PolicyIteration
)

// SolverConfig governs a solver. The zero value is useful.
type SolverConfig struct {
	Method Method // algorithm; default Automatic
	// Tolerance is how far from the optimum the value (discounted) or the gain
	// (average) may be. Default 1e-9 times the largest absolute reward, for the
	// discounted value times 1/(1−γ).
	Tolerance float64
	// MaxIterations limits sweeps, or policy improvements. Default 1,000,000.
	MaxIterations int
	// Value is where to start, of an earlier solution of a similar model, for all methods
	// but policy iteration; nil: zero. It is not kept.
	Value []float64
	// Policy is where policy iteration starts; nil: its own choice. It is not kept.
	Policy Deterministic
	// Progress, if not nil, is called after each round of sweeps of value iteration and
	// modified policy iteration, with their number and the solution's bound so far.
	Progress func(sweeps int, bound float64)
}

// Solution is an optimal policy with its values, and how good it is.
type Solution struct {
	Policy Deterministic // optimal action of each state
	// Value is the optimal value from each state; nil for the average criterion.
	Value []float64
	// Gain and Bias belong to the average criterion. The gain is the optimal
	// reward per step from each state (constant unless the model is multichain).
	// The bias is the lead of a state over that. The bias belongs to the returned policy,
	// and has mean zero under its stationary distribution. After relative value iteration
	// it is approximate, and zero in state 0.
	Gain, Bias []float64
	// Bound is a certified bound on |Value−V*| or |Gain−g*| in every state, from
	// the Bellman residual of what is returned, roundoff included. The policy
	// loses at most twice that. +Inf when there is none to be had.
	Bound float64
	// Residual is what the bound comes from: the span of the Bellman residual
	// (the difference of its extremes).
	Residual float64
	// Improvements counts policy improvements, Sweeps passes over all states, and
	// Backups evaluations of a single row P(·|s,a).
	Improvements, Sweeps, Backups int
}

// unit is the largest relative error of one rounding.
const unit = 0x1p-53

// rounding bounds the roundoff of one Bellman backup of v.
func rounding(t *Tabular, v []float64) float64 {
	longest, largest := 0, 0.0
	for i := range t.reward {
		longest = max(longest, t.start[i+1]-t.start[i])
		largest = max(largest, math.Abs(t.reward[i]))
	}
	for _, x := range v {
		largest = max(largest, math.Abs(x))
	}
	return float64(longest+4) * unit * largest
}

// largestReward returns max |r(s,a)|, or 1 when all rewards are zero.
func largestReward(t *Tabular) float64 {
	largest := 0.0
	for _, r := range t.reward {
		largest = max(largest, math.Abs(r))
	}
	if largest == 0 {
		return 1
	}
	return largest
}

// checkRange returns an error if the values of a model may be too large for numbers of 64 bits,
// where so many of its rewards add up.
func checkRange(t *Tabular, rewards float64) error {
	if largest := largestReward(t); !(largest*rewards < math.MaxFloat64/1000) {
		return fmt.Errorf("mdp: values may be too large for numbers of 64 bits, as %.4g rewards of up to %.4g add up: divide the rewards of the model by a constant", rewards, largest)
	}
	return nil
}

// tabular returns m in compressed rows: itself, or a copy.
func tabular(m Model) *Tabular {
	if t, ok := m.(*Tabular); ok {
		return t
	}
	n, actions := m.NumStates(), m.NumActions()
	t := &Tabular{states: n, actions: actions, start: make([]int, 1, n*actions+1), reward: make([]float64, 0, n*actions)}
	for s := range n {
		for a := range actions {
			next, prob := m.Transition(s, a)
			t.next, t.prob = append(t.next, next...), append(t.prob, prob...)
			t.start = append(t.start, len(t.next))
			t.reward = append(t.reward, m.Reward(s, a))
		}
	}
	return t
}

// backup returns r + γ Σ p v of row i = s*A+a.
func (m *Tabular) backup(i int, gamma float64, v []float64) float64 {
	lo, hi := m.start[i], m.start[i+1]
	prob := m.prob[lo:hi]
	sum := 0.0
	for k, t := range m.next[lo:hi] {
		sum += prob[k] * v[t]
	}
	return m.reward[i] + gamma*sum
}

// best returns the largest backup of state s and the first action with it, one that the
// state has.
func (m *Tabular) best(s int, gamma float64, v []float64) (value float64, action int) {
	value = math.Inf(-1)
	row := s * m.actions
	starts := m.start[row : row+m.actions+1]
	rewards := m.reward[row : row+m.actions]
	lo := starts[0]
	for a, hi := range starts[1:] {
		prob := m.prob[lo:hi]
		next := m.next[lo:hi]
		sum := 0.0
		for k, p := range prob {
			sum += p * v[next[k]]
		}
		if q := rewards[a] + gamma*sum; q > value {
			value, action = q, a
		}
		lo = hi
	}
	if m.standIn != nil {
		action = int(m.standIn[row+action])
	}
	return value, action
}

// dense is how many successors a pair has on average in models whose rows bestDense reads.
const dense = 32

// bestFor returns best, or bestDense where rows have many successors.
func (m *Tabular) bestFor() func(s int, gamma float64, v []float64) (value float64, action int) {
	if len(m.next) > dense*len(m.reward) {
		return m.bestDense
	}
	return m.best
}

// bestDense is best, but for rounding. It reads rows of neighbours without their numbers.
func (m *Tabular) bestDense(s int, gamma float64, v []float64) (value float64, action int) {
	value = math.Inf(-1)
	for a := range m.actions {
		i := s*m.actions + a
		next, prob := m.next[m.start[i]:m.start[i+1]], m.prob[m.start[i]:m.start[i+1]]
		q := m.reward[i]
		if last := len(next) - 1; last >= 0 && int(next[last]-next[0]) == last {
			q += gamma * floats.Dot(prob, v[next[0]:int(next[0])+len(prob)])
		} else {
			q += gamma * dotSparse(next, prob, v)
		}
		if q > value {
			value, action = q, a
		}
	}
	if m.standIn != nil {
		action = int(m.standIn[s*m.actions+action])
	}
	return value, action
}

// parallelFrom is the size from which a sweep is split between processors.
const parallelFrom = 1 << 12

// blocks calls f for the parts of 0..n-1, concurrently when n is large; part
// numbers them.
func blocks(n int, f func(part, lo, hi int)) {
	workers := numBlocks(n)
	if workers == 1 {
		f(0, 0, n)
		return
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { f(w, n*w/workers, n*(w+1)/workers) })
	}
	wg.Wait()
}

func numBlocks(n int) int {
	if n < parallelFrom {
		return 1
	}
	return min(runtime.GOMAXPROCS(0), 8)
}

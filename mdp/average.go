package mdp

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// SolveAverage returns a policy that maximises the long-run reward per step from
// every state, its gain and bias. Policy iteration takes any model of up to 2000
// states, even one whose optimal gain differs between states, which is the default for those. Relative value
// iteration takes larger ones that are weakly communicating; for others it
// returns a MissingError. With ErrNotConverged the solution is the best so far.
//
// For any vector h, min(Lh−h) ≤ g* ≤ max(Lh−h), L being the undiscounted Bellman
// operator, where the optimal gain g* is constant (Puterman 1994, Theorem
// 8.5.5); that is the bound. If it is not constant, the bound holds for the actions that
// keep the gain (ibid., Theorem 9.1.2). Gains within 1e-11 count as equal.
func SolveAverage(m Model, o SolverConfig) (*Solution, error) {
	var s AverageSolver
	return s.Solve(m, o)
}

// AverageSolver solves average-reward models one after the other, for an agent that learns
// its model. It keeps its memory. If the size is the same, it starts from the previous
// policy or bias. So solving a small model again costs one or two policy evaluations and
// no allocation. The zero value is ready.
type AverageSolver struct {
	t         *Tabular
	sol       Solution
	red       reduction
	tarjan    tarjan
	component []int
	closed    []bool
	reference int // a recurrent state, whose bias is zero
	value     []float64
	states    []int // all
	place     []int // scratch, by state
	dense, mu []float64
	row       func(s int) ([]int32, []float64) // under the current policy
	successor func(s int) []int32              // likewise
}

// Solve is SolveAverage. The solution is valid until the next call.
func (a *AverageSolver) Solve(m Model, o SolverConfig) (*Solution, error) {
	t := tabular(m)
	warm := a.t != nil && a.t.states == t.states && a.t.actions == t.actions
	a.t = t
	n := t.states
	limit := o.MaxIterations
	if limit <= 0 {
		limit = 1_000_000
	}
	a.sol = Solution{Policy: resize(a.sol.Policy, n), Gain: resize(a.sol.Gain, n), Bias: resize(a.sol.Bias, n)}
	if !warm {
		clear(a.sol.Bias)
	}
	switch {
	case o.Policy != nil:
		if err := t.checkPolicy(o.Policy); err != nil {
			return nil, err
		}
		copy(a.sol.Policy, o.Policy)
	case warm:
		t.existing(a.sol.Policy)
	default:
		for s := range n { // greedy for one step
			best := math.Inf(-1)
			for b := range t.actions {
				if r := t.Reward(s, b); r > best {
					best, a.sol.Policy[s] = r, b
				}
			}
		}
		t.existing(a.sol.Policy)
	}
	method := o.Method
	if method == Automatic {
		method = ValueIteration
		if n <= averageLimit || n <= denseLimit && ModelStructure(t).RequireWeaklyCommunicating() != nil {
			method = PolicyIteration
		}
	}
	switch {
	case method == ValueIteration:
		if err := ModelStructure(t).RequireWeaklyCommunicating(); err != nil {
			return nil, err
		}
		return a.relativeValueIteration(o, limit)
	case method != PolicyIteration:
		return nil, fmt.Errorf("mdp: method %d is not for the average criterion", method)
	case n > denseLimit:
		return nil, fmt.Errorf("mdp: policy iteration is for up to %d states, not %d", denseLimit, n)
	}
	sol, err := a.policyIteration(limit)
	if o.Method != Automatic || !errors.Is(err, ErrNotConverged) || ModelStructure(t).RequireWeaklyCommunicating() != nil {
		return sol, err
	}
	// Policies on the way had biases beyond what rounding bears. Value iteration
	// passes by them, and its policy can then be evaluated exactly.
	clear(a.sol.Bias)
	if sol, err = a.relativeValueIteration(o, limit); err != nil {
		return sol, err
	}
	found := *sol
	found.Policy, found.Gain, found.Bias = slices.Clone(sol.Policy), slices.Clone(sol.Gain), slices.Clone(sol.Bias)
	a.sol.Improvements = 0
	if sol, err = a.policyIteration(limit); err != nil || !(sol.Bound <= max(found.Bound, a.tolerance(o))) {
		a.sol = found
	}
	return &a.sol, nil
}

// Evaluate returns the gain and bias of a policy, as Chain.EvaluateAverage does
// but in the solver's memory, for models of up to 2000 states. The solution is
// valid until the next call.
func (a *AverageSolver) Evaluate(m Model, pi Deterministic) (*Solution, error) {
	t := tabular(m)
	n := t.states
	if n > denseLimit {
		return nil, fmt.Errorf("mdp: direct evaluation is for up to %d states, not %d", denseLimit, n)
	}
	if err := t.checkPolicy(pi); err != nil {
		return nil, err
	}
	a.t = t
	a.sol = Solution{Policy: resize(a.sol.Policy, n), Gain: resize(a.sol.Gain, n), Bias: resize(a.sol.Bias, n)}
	copy(a.sol.Policy, pi)
	constant, err := a.evaluate()
	if err == nil && constant {
		a.center()
	}
	a.sol.Bound = math.Inf(1) // says nothing of the optimum
	return &a.sol, err
}

// policyIteration is the multichain algorithm: improve the gain where an action
// leads to states of larger gain, else the bias among the actions that keep the
// gain.
func (a *AverageSolver) policyIteration(limit int) (*Solution, error) {
	t, sol := a.t, &a.sol
	n := t.states
	for range limit {
		constant, err := a.evaluate()
		if err != nil {
			return nil, err
		}
		sol.Improvements++
		noise := rounding(t, sol.Bias)
		slack := patience(sol.Improvements) * 4 * noise
		changed := false
		if !constant {
			gainSlack := patience(sol.Improvements) * 1e-11 * maxAbs(sol.Gain)
			for s := range n {
				best := expectation(t, s, sol.Policy[s], sol.Gain) + gainSlack
				for b := range t.actions {
					if g := expectation(t, s, b, sol.Gain); g > best {
						best, sol.Policy[s], changed = g, b, true
					}
				}
			}
			t.existing(sol.Policy)
			sol.Backups += n * (t.actions + 1)
			if changed {
				continue
			}
		}
		lo, hi := math.Inf(1), math.Inf(-1)
		for s := range n {
			keep := math.Inf(-1)
			if !constant { // only actions that keep the gain
				keep = expectation(t, s, sol.Policy[s], sol.Gain) - 1e-11*maxAbs(sol.Gain)
			}
			current := t.backup(s*t.actions+sol.Policy[s], 1, sol.Bias)
			best := current
			for b := range t.actions {
				if !constant && expectation(t, s, b, sol.Gain) < keep {
					continue
				}
				q := t.backup(s*t.actions+b, 1, sol.Bias)
				if q > best+slack {
					sol.Policy[s], changed = b, true
				}
				best = max(best, q)
			}
			d := best - sol.Bias[s] - sol.Gain[s]
			lo, hi = min(lo, d), max(hi, d)
		}
		t.existing(sol.Policy)
		sol.Sweeps++
		sol.Backups += n * (t.actions + 1)
		if !changed {
			if constant {
				a.center()
			}
			sol.Residual = hi - lo
			sol.Bound = max(math.Abs(lo), math.Abs(hi)) + 2*noise
			// Biases can be so large that their rounding hides the rewards: a gain
			// that may be off by as much as any reward is not a solution.
			if sol.Bound > 0 && !(sol.Bound < largestReward(t)) {
				return sol, ErrNotConverged
			}
			return sol, nil
		}
	}
	sol.Bound = math.Inf(1)
	return sol, ErrNotConverged
}

func maxAbs(v []float64) float64 {
	largest := 0.0
	for _, x := range v {
		largest = max(largest, math.Abs(x))
	}
	return largest
}

// evaluate sets gain and bias of the current policy and reports whether the gain
// is constant because there is a single closed class.
func (a *AverageSolver) evaluate() (constant bool, err error) {
	n := a.t.states
	a.component, a.closed = resize(a.component, n), resize(a.closed, n)
	if a.successor == nil {
		a.row = func(s int) ([]int32, []float64) { return a.t.Transition(s, a.sol.Policy[s]) }
		a.successor = func(s int) []int32 {
			next, _ := a.row(s)
			return next
		}
	}
	a.place, a.value, a.states = resize(a.place, n), resize(a.value, n), resize(a.states, n)
	for s := range a.states {
		a.states[s] = s
	}
	count := a.tarjan.components(a.component, a.successor)
	for i := range count {
		a.closed[i] = true
	}
	for s, i := range a.component {
		for _, u := range a.successor(s) {
			if a.component[u] != i {
				a.closed[i] = false
			}
		}
	}
	classes := 0
	for i := range count {
		if a.closed[i] {
			classes++
		}
	}
	if classes > 1 {
		c, err := Induce(a.t, a.sol.Policy)
		if err != nil {
			return false, err
		}
		gain, bias, err := c.EvaluateAverage()
		copy(a.sol.Gain, gain)
		copy(a.sol.Bias, bias)
		return false, err
	}
	// The reference should be visited often: else excursions are long and what they
	// cost beyond the gain is lost in roundoff. The last one may still do.
	if a.reference >= n || !a.closed[a.component[a.reference]] {
		for s, i := range a.component {
			if a.closed[i] {
				a.reference = s
				break
			}
		}
	}
	if a.cycle() > float64(100+2*n) {
		a.likeliest()
		a.cycle()
	}
	return true, nil
}

// cycle evaluates a policy with one closed class, to which the reference belongs, and returns
// the duration of a cycle. The bias is zero in the reference state.
func (a *AverageSolver) cycle() (duration float64) {
	mean, duration := a.red.cycle(a.states, a.reference, a.place, a.row, func(s int) float64 { return a.t.Reward(s, a.sol.Policy[s]) }, a.value)
	for s := range a.sol.Gain {
		a.sol.Gain[s] = mean
	}
	copy(a.sol.Bias, a.value)
	return duration
}

// likeliest moves the reference to the state with the largest stationary
// probability under the current policy, which has one closed class.
func (a *AverageSolver) likeliest() {
	n, class := 0, a.component[a.reference]
	for s, i := range a.component {
		if i == class {
			a.place[s] = n
			n++
		}
	}
	a.dense = resize(a.dense, n*n)
	clear(a.dense)
	for s, i := range a.component {
		if i == class {
			next, prob := a.t.Transition(s, a.sol.Policy[s])
			for k, t := range next {
				a.dense[a.place[s]*n+a.place[t]] = prob[k]
			}
		}
	}
	a.mu = resize(a.mu, n)
	gth(a.mu, nil, a.dense)
	best := -1.0
	for s, i := range a.component {
		if i == class && a.mu[a.place[s]] > best {
			best, a.reference = a.mu[a.place[s]], s
		}
	}
}

// center shifts the bias to have mean zero under the stationary distribution of
// the current policy: its mean is the gain of being paid the bias.
func (a *AverageSolver) center() {
	mean, _ := a.red.cycle(a.states, a.reference, a.place, a.row, func(s int) float64 { return a.sol.Bias[s] }, a.value)
	for s := range a.sol.Bias {
		a.sol.Bias[s] -= mean
	}
}

package mdp

import (
	"fmt"
	"math"
)

// SolveDiscounted returns a policy that maximises Σ γ^t r_t, 0 ≤ γ < 1, and its
// value. With ErrNotConverged the solution is the best so far.
//
// The bound comes from one more Bellman backup, however the value v was found.
// With d = Tv − v, every V* − v lies between min d/(1−γ) and max d/(1−γ)
// (MacQueen 1966; Puterman 1994, §6.6.3). So v, shifted to the middle, is within
// half of the difference.
func SolveDiscounted(m Model, gamma float64, o SolverConfig) (*Solution, error) {
	if err := checkDiscount(gamma); err != nil {
		return nil, err
	}
	d := &discounted{Tabular: tabular(m), gamma: gamma, limit: o.MaxIterations, tolerance: o.Tolerance, progress: o.Progress}
	if err := checkRange(d.Tabular, 1/(1-gamma)); err != nil {
		return nil, err
	}
	n := d.states
	if d.limit <= 0 {
		d.limit = 1_000_000
	}
	if d.tolerance <= 0 {
		d.tolerance = 1e-9 * largestReward(d.Tabular) / (1 - gamma)
	}
	d.v, d.w = make([]float64, n), make([]float64, n)
	d.sol.Policy = make(Deterministic, n)
	if o.Value != nil {
		if copy(d.v, o.Value) != n || len(o.Value) != n {
			return nil, fmt.Errorf("mdp: the value to start from has %d states, the model %d", len(o.Value), n)
		}
	}
	method := o.Method
	if method == Automatic && n <= discountedLimit {
		method = PolicyIteration
	}
	switch method {
	case ValueIteration:
		return d.iterate(0, false)
	case ModifiedPolicyIteration:
		return d.iterate(3, false)
	case Automatic:
		if d.mixes(d.certify) {
			return &d.sol, nil
		}
		if len(d.next) > dense*len(d.reward) { // evaluations read one action and not all
			return d.inexact()
		}
		return d.iterate(3, true)
	case PolicyIteration:
		if n > denseLimit {
			return nil, fmt.Errorf("mdp: policy iteration is for up to %d states, not %d", denseLimit, n)
		}
		return d.policyIteration(o.Policy)
	}
	return nil, fmt.Errorf("mdp: unknown method %d", method)
}

// discounted is the work of one SolveDiscounted.
type discounted struct {
	*Tabular
	gamma, tolerance float64
	limit            int
	v, w             []float64   // the value, and a second one
	views            [][]float64 // copies of v, one per processor of several
	sol              Solution
	progress         func(sweeps int, bound float64) // may be nil
}

// improve writes Tv into w and the greedy policy into the solution, and returns
// the extremes of Tv−v.
func (d *discounted) improve() (lo, hi float64) {
	d.sol.Sweeps++
	d.sol.Improvements++
	d.sol.Backups += d.states * d.actions
	return d.across(d.improveBlock)
}

// across calls f for all states, in parts, and returns the extremes of what it returns.
func (d *discounted) across(f func(from, to int) (lo, hi float64)) (lo, hi float64) {
	parts := numBlocks(d.states)
	if parts == 1 {
		return f(0, d.states)
	}
	type extremes struct {
		lo, hi float64
		_      [6]float64 // keeps the parts on different cache lines
	}
	found := make([]extremes, parts)
	blocks(d.states, func(part, from, to int) { found[part].lo, found[part].hi = f(from, to) })
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, f := range found {
		lo, hi = min(lo, f.lo), max(hi, f.hi)
	}
	return lo, hi
}

// improveBlock is improve for a range of states.
func (d *discounted) improveBlock(from, to int) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	best := d.bestFor()
	for s := from; s < to; s++ {
		q, a := best(s, d.gamma, d.v)
		d.w[s], d.sol.Policy[s] = q, a
		x := q - d.v[s]
		lo, hi = min(lo, x), max(hi, x)
	}
	return lo, hi
}

// certify sets the value and its bound from the extremes of Tv−v. It reports
// whether the tolerance, or what roundoff leaves of it, is met.
func (d *discounted) certify(lo, hi float64) bool {
	shift := (lo + hi) / 2 / (1 - d.gamma)
	half := (hi - lo) / 2 / (1 - d.gamma)
	noise := rounding(d.Tabular, d.v) / (1 - d.gamma)
	d.sol.Residual, d.sol.Bound = hi-lo, half+noise
	if half > max(d.tolerance-noise, 2*noise) {
		return false
	}
	d.sol.Value = d.v
	for s := range d.v {
		d.v[s] += shift
	}
	return true
}

// mixes is modified policy iteration by Jacobi sweeps, which never have to be shifted: MacQueen's
// bounds come closer by the rate at which policies forget where they started. It goes on while
// that is fast, and reports whether the tolerance was met. Evaluations are as exact as the
// policy is good. certified says whether the extremes of Tv−v are close enough.
func (d *discounted) mixes(certified func(lo, hi float64) bool) bool {
	const slow, exactness = 0.85, 0.05 // of the span, after a sweep and after an evaluation
	for last := math.Inf(1); d.sol.Sweeps < d.limit; {
		lo, hi := d.improve()
		if certified(lo, hi) {
			return true
		}
		if !(hi-lo <= slow*last) { // the policies are too different
			return false
		}
		last = hi - lo
		if d.progress != nil {
			d.progress(d.sol.Sweeps, d.sol.Bound)
		}
		d.v, d.w = d.w, d.v
		for first, before := hi-lo, hi-lo; before > exactness*first; before = hi - lo {
			if lo, hi = d.evaluate(); hi-lo > slow*before {
				return false
			}
		}
	}
	return false
}

// evaluate moves v to r + γPv of the present policy, and returns the extremes of the change.
func (d *discounted) evaluate() (lo, hi float64) {
	lo, hi = d.across(func(from, to int) (lo, hi float64) {
		lo, hi = math.Inf(1), math.Inf(-1)
		for s := from; s < to; s++ {
			d.w[s] = d.backup(s*d.actions+d.sol.Policy[s], d.gamma, d.v)
			x := d.w[s] - d.v[s]
			lo, hi = min(lo, x), max(hi, x)
		}
		return lo, hi
	})
	d.v, d.w = d.w, d.v
	d.sol.Sweeps++
	d.sol.Backups += d.states
	return lo, hi
}

// iterate alternates rounds of Gauss-Seidel sweeps, in both directions, with two Jacobi
// sweeps. The second bounds what is left; after only one, the states that were swept last
// would have no residual, and the bounds would be loose. A round makes optimality sweeps
// only, or evaluates the policy that each finds by some more sweeps, which read one action
// instead of all. If rounds gain little and d may hand over, policy iteration goes on.
func (d *discounted) iterate(evaluations int, handOver bool) (*Solution, error) {
	const sweeps = 8                                     // in a round
	optimality := func(s int, v []float64) (q float64) { // v ← max_a (r + γPv)
		q, d.sol.Policy[s] = d.best(s, d.gamma, v)
		return q
	}
	evaluation := func(s int, v []float64) float64 { return d.backup(s*d.actions+d.sol.Policy[s], d.gamma, v) }
	before, shifts := math.Inf(1), true
	for round := 0; d.sol.Sweeps < d.limit; round++ {
		if round > 0 {
			d.improve()
			d.v, d.w = d.w, d.v
		}
		lo, hi := d.improve()
		if d.certify(lo, hi) {
			return &d.sol, nil
		}
		if d.progress != nil {
			d.progress(d.sol.Sweeps, d.sol.Bound)
		}
		d.v, d.w = d.w, d.v
		left := max(math.Abs(lo), math.Abs(hi))
		if handOver && (round > 2 && d.roundsLeft(left/before, hi-lo) > 20 || round > 0 && d.width() <= narrow) {
			return d.inexact()
		}
		shifts = shifts && left <= before
		before = left
		if shifts {
			before = d.shift(lo, hi)
		}
		for i := range sweeps {
			if i%(evaluations+1) == 0 {
				d.sweep(i/(evaluations+1)&1 == 1, optimality)
				d.sol.Backups += d.states * d.actions
			} else {
				d.sweep(i&1 == 1, evaluation)
				d.sol.Backups += d.states
			}
		}
		d.sol.Sweeps += sweeps
	}
	d.sol.Value = d.v
	return &d.sol, ErrNotConverged
}

// width is how far a row of the present policy reaches from its own state.
func (d *discounted) width() (width int) {
	for s, a := range d.sol.Policy {
		next, _ := d.Transition(s, a)
		for _, t := range next {
			width = max(width, s-int(t), int(t)-s)
		}
	}
	return width
}

// roundsLeft is how many rounds bring a span to the tolerance, at a rate per round.
func (d *discounted) roundsLeft(rate, span float64) float64 {
	if rate >= 1 {
		return math.Inf(1)
	}
	return math.Log(span/2/(1-d.gamma)/d.tolerance) / -math.Log(rate)
}

// shift moves v = Tu, with lo ≤ Tu−u ≤ hi, to the middle of MacQueen's bounds, and returns
// the largest error that remains, as a residual. It does so only if most of the residual is
// common to all states. Where a state is absorbing its value may be known already, and a
// shift would only make it wrong.
func (d *discounted) shift(lo, hi float64) float64 {
	left := max(math.Abs(lo), math.Abs(hi))
	if lo*hi <= 0 || min(math.Abs(lo), math.Abs(hi)) < left/8 {
		return left
	}
	shift := d.gamma / (1 - d.gamma) * (lo + hi) / 2
	for s := range d.v {
		d.v[s] += shift
	}
	return (hi - lo) / 2
}

// inexact goes on with policy iteration whose evaluations are inexact: GMRES for each
// policy (see DiscountedSolver), which slow modes do not hold up.
func (d *discounted) inexact() (*Solution, error) {
	solver := DiscountedSolver{linear: krylov{eliminates: true}, best: d.bestFor()}
	stalls := 8
	if d.width() <= narrow { // evaluations are cheap and exact
		stalls = 100
	}
	noise := rounding(d.Tabular, d.v) / (1 - d.gamma)
	// An error says that rounding or slow modes allow no less: what follows does.
	_, _ = solver.solve(d.v, d.sol.Policy, d.Tabular, d.gamma, max(d.tolerance-2*noise, noise)*(1-d.gamma)/2, stalls, 4)
	d.sol.Sweeps += solver.linear.passes
	d.sol.Backups += solver.linear.passes * d.states
	if lo, hi := d.improve(); d.certify(lo, hi) {
		return &d.sol, nil
	}
	if d.states <= denseLimit {
		return d.policyIteration(d.sol.Policy)
	}
	return d.iterate(3, false)
}

// sweep is one Gauss-Seidel sweep: it updates every state once, in place. Each processor
// sweeps its own block, sees its own new values at once and those of the others as they
// were before the sweep.
func (d *discounted) sweep(reverse bool, update func(s int, v []float64) float64) {
	parts := numBlocks(d.states)
	if parts == 1 {
		sweepBlock(d.v, 0, d.states, reverse, update)
		return
	}
	for len(d.views) < parts {
		d.views = append(d.views, make([]float64, d.states))
	}
	blocks(d.states, func(part, from, to int) {
		copy(d.views[part], d.v)
		sweepBlock(d.views[part], from, to, reverse, update)
	})
	blocks(d.states, func(part, from, to int) { copy(d.v[from:to], d.views[part][from:to]) })
}

// sweepBlock is sweep for a range of states.
func sweepBlock(v []float64, from, to int, reverse bool, update func(s int, v []float64) float64) {
	if reverse {
		for s := to - 1; s >= from; s-- {
			v[s] = update(s, v)
		}
		return
	}
	for s := from; s < to; s++ {
		v[s] = update(s, v)
	}
}

// policyIteration evaluates each greedy policy exactly until it no longer
// changes, and starts from the given policy if there is one.
func (d *discounted) policyIteration(start Deterministic) (*Solution, error) {
	n := d.states
	if start != nil {
		if err := d.checkPolicy(start); err != nil {
			return nil, err
		}
		copy(d.sol.Policy, start)
	} else {
		d.improve()
	}
	var red reduction
	for d.sol.Sweeps < d.limit {
		red.reset(n)
		for s, a := range d.sol.Policy {
			next, prob := d.Transition(s, a)
			for k, t := range next {
				red.q[s*n+int(t)] = d.gamma * prob[k]
			}
			red.leave[s] = 1 - d.gamma
			red.f[0][s] = d.Reward(s, a)
		}
		red.solve()
		copy(d.v, red.f[0])
		// Keep an action unless another is better beyond roundoff, so as not to
		// cycle among equals.
		slack := patience(d.sol.Improvements) * 4 * rounding(d.Tabular, d.v)
		changed := false
		lo, hi := math.Inf(1), math.Inf(-1)
		for s, a := range d.sol.Policy {
			q, b := d.best(s, d.gamma, d.v)
			lo, hi = min(lo, q-d.v[s]), max(hi, q-d.v[s])
			if q > d.backup(s*d.actions+a, d.gamma, d.v)+slack {
				d.sol.Policy[s] = b
				changed = true
			}
		}
		d.sol.Sweeps++
		d.sol.Improvements++
		d.sol.Backups += n * (d.actions + 1)
		if !changed {
			d.certify(lo, hi)
			d.sol.Value = d.v
			return &d.sol, nil
		}
	}
	d.sol.Value = d.v
	return &d.sol, ErrNotConverged
}

// patience grows once an unusual number of improvements has been made. Policy
// iteration takes a handful; if roundoff makes it cycle among policies that are
// as good as equal, what counts as an improvement has to rise until it ends.
func patience(improvements int) float64 {
	return math.Exp2(float64(max(0, improvements-50)))
}

func (m *Tabular) checkPolicy(p Deterministic) error {
	if len(p) != m.states {
		return fmt.Errorf("mdp: the policy has %d states, the model %d", len(p), m.states)
	}
	for s, a := range p {
		if a < 0 || a >= m.actions {
			return fmt.Errorf("mdp: policy in state %d: action %d is outside 0..%d", s, a, m.actions-1)
		}
		if !m.Available(s, a) {
			return fmt.Errorf("mdp: policy: state %d has no action %s", s, m.action(a))
		}
	}
	return nil
}

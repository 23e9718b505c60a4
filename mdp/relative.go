package mdp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// relativeValueIteration iterates h ← h + τ(Lh−h), less its value in state 0,
// where L is the undiscounted Bellman operator. For τ < 1 it converges whatever
// the periods, where the optimal gain is constant (Puterman 1994, §8.5.4 and
// §8.5.5).
//
// It begins with Jacobi sweeps of policies, as SolveDiscounted does, for as long as they are
// fast. If the chain runs through long, nearly deterministic cycles, it needs as many sweeps as
// it takes to forget the phase. So Gauss-Seidel sweeps of h ← max_a (r − λ + Ph) follow
// each sweep. Here λ is in the middle of the bounds on the gain found so far. They carry
// values all along the cycle at once. If they do not help they are left out. Where states
// lead only to close ones, policies are also evaluated exactly, now and then.
func (a *AverageSolver) relativeValueIteration(o SolverConfig, limit int) (*Solution, error) {
	const (
		tau      = 0.9
		sweeps   = 16 // of Gauss-Seidel after each of Jacobi
		patience = 20 // rounds without progress before those are left out
	)
	sol := &a.sol
	n := a.t.states
	d := &discounted{Tabular: a.t, gamma: 1, v: make([]float64, n), w: make([]float64, n), limit: limit}
	d.sol.Policy = sol.Policy
	copy(d.v, sol.Bias) // of the previous solution
	if o.Value != nil {
		if len(o.Value) != n {
			return nil, fmt.Errorf("mdp: the value to start from has %d states, the model %d", len(o.Value), n)
		}
		copy(d.v, o.Value)
	}
	tolerance := a.tolerance(o)
	below, above := math.Inf(-1), math.Inf(1) // bounds on the gain
	certified := func(lo, hi float64) bool {
		below, above = max(below, lo), min(above, hi)
		noise := rounding(a.t, d.v)
		sol.Residual, sol.Bound = hi-lo, (hi-lo)/2+noise
		for s := range n {
			sol.Gain[s] = (lo + hi) / 2
		}
		if (hi-lo)/2 <= max(tolerance-noise, 2*noise) {
			return true
		}
		if o.Progress != nil {
			o.Progress(d.sol.Sweeps, sol.Bound)
		}
		return false
	}
	start := slices.Clone(d.v)
	found := d.mixes(certified)
	if !found { // another start says nothing, and would choose among equal policies
		copy(d.v, start)
		below, above = math.Inf(-1), math.Inf(1)
	}
	narrowest, since := math.Inf(1), 0
	lambda := 0.0
	relative := func(s int, v []float64) float64 {
		q, _ := d.best(s, 1, v)
		return q - lambda
	}
	for round := 0; !found && d.sol.Sweeps < limit; round++ {
		lo, hi := d.improve()
		if found = certified(lo, hi); found {
			break
		}
		if round > 1 && round&(round-1) == 0 {
			if found = d.exactly(certified); found {
				break
			}
		}
		if since++; hi-lo < 0.9*narrowest {
			narrowest, since = hi-lo, 0
		}
		for s := range n {
			d.v[s] += tau * (d.w[s] - d.v[s])
		}
		if since < patience {
			lambda = (below + above) / 2
			for i := range sweeps {
				d.sweep(i&1 == 1, relative)
			}
			d.sol.Sweeps += sweeps
			d.sol.Backups += sweeps * n * a.t.actions
		}
		for s := n - 1; s >= 0; s-- {
			d.v[s] -= d.v[0]
		}
	}
	for s := range d.v {
		sol.Bias[s] = d.v[s] - d.v[0]
	}
	sol.Sweeps, sol.Improvements, sol.Backups = d.sol.Sweeps, d.sol.Improvements, d.sol.Backups
	if !found {
		return sol, ErrNotConverged
	}
	return sol, nil
}

// tolerance is the largest error of the gain.
func (a *AverageSolver) tolerance(o SolverConfig) float64 {
	if o.Tolerance > 0 {
		return o.Tolerance
	}
	return 1e-9 * largestReward(a.t)
}

// exactly evaluates greedy policies one after the other, where states lead only to close ones,
// until the extremes of Lh−h are certified. If that does not come about in a few policies, nothing
// has changed but the greedy policy.
func (d *discounted) exactly(certified func(lo, hi float64) bool) bool {
	const policies = 30
	linear := krylov{eliminates: true}
	before, after := slices.Clone(d.v), slices.Clone(d.w)
	for k := 0; k < policies && d.width() <= narrow; k++ {
		reference := d.frequent()
		linear.set(d.Tabular, d.sol.Policy, 1, reference)
		if !linear.relative(d.v, reference) {
			break
		}
		d.sol.Sweeps += 3
		d.sol.Backups += 3 * d.states
		if lo, hi := d.improve(); certified(lo, hi) {
			return true
		}
	}
	d.v, d.w = before, after
	return false
}

// frequent is the state that a run of the present policy visits most often: excursions from a
// state that is seldom visited are long, and their rewards large numbers.
func (d *discounted) frequent() (most int) {
	rng := rand.New(rand.NewPCG(1, 0))
	visits, s := make([]int, d.states), 0
	for range 1000 + 2*d.states {
		next, prob := d.Transition(s, d.sol.Policy[s])
		u := rng.Float64()
		for k, t := range next {
			s = int(t)
			if u -= prob[k]; u < 0 {
				break
			}
		}
		visits[s]++
		if visits[s] > visits[most] {
			most = s
		}
	}
	return most
}

package modelagents

import (
	"math"

	"github.com/rlrun/rlrun/plugins/internal/argmax"
	"github.com/rlrun/rlrun/plugins/internal/finite"
)

// optimism is what an agent makes of what it has seen little of.
type optimism interface {
	// untried returns the value of a pair that was never tried.
	untried() float64
	// tried returns that of a pair of an action, tried n times, given its mean reward
	// and the discounted mean value of what followed.
	tried(action int, n, reward, after float64) float64
	// ended returns the value of a terminal state.
	ended() float64
}

// sweeping acts greedily by the solution of
//
//	Q(s,a) = tried(a, n(s,a), r̂(s,a), γ Σ_u p̂(u|s,a) max_b Q(u,b)), at most the largest return,
//
// which is kept up to date by sweeps of value iteration from the last one, to a
// residual of 1e-3 of the range of rewards. A step changes the values of one pair
// only: unless these changes have added up to the residual there is no sweep.
type sweeping struct {
	counting
	optimism `snapshot:"-"`
	gamma    float64
	top      float64   // the largest return there can be
	residual float64   // that is left after sweeps
	q        []float64 // of pair s*A+a
	value    []float64
	end      float64 // value of terminal states
	stale    float64 // by how much values have changed since the last sweep, added up
	sweeps   int     // made in this run
}

// init prepares for a task, at the address that it keeps, with rewards in [low,high].
func (x *sweeping) init(t finite.Task, o optimism, gamma, low, high float64) {
	x.counting.init(t)
	x.optimism, x.gamma = o, gamma
	x.top, x.residual = t.LargestReturn(high, gamma), 1e-3*(high-low)
	x.q, x.value = make([]float64, t.States*t.Actions), make([]float64, t.States)
}

func (x *sweeping) Start(s uint64) {
	x.start(s)
	for i := range x.q {
		x.q[i] = x.untried()
	}
	for s := range x.value {
		x.value[s] = x.untried()
	}
	x.stale, x.sweeps = 0, 0
}

func (x *sweeping) Begin(s int) int { return x.Act(s) }

func (x *sweeping) Step(r float64, next int) int {
	x.learn(r, next)
	return x.Act(next)
}

func (x *sweeping) End(r float64, next int, terminated bool) {
	if terminated && x.mark(next) {
		x.update(next)
	}
	x.learn(r, next)
}

func (x *sweeping) learn(r float64, next int) {
	x.counts.Update(x.state, x.action, r, next)
	x.update(x.state)
}

func (x *sweeping) Act(s int) int {
	if x.unmark(s) {
		x.update(s)
	}
	if x.stale > x.residual {
		x.sweep()
	}
	x.state, x.action = s, argmax.Any(x.q[s*x.t.Actions:(s+1)*x.t.Actions], x.rng)
	return x.action
}

// update backs up a state and remembers by how much its value changed.
func (x *sweeping) update(s int) { x.stale += x.backup(s) }

// sweep makes sweeps of Gauss-Seidel value iteration, in alternating directions,
// until one changes no value by more than the residual.
func (x *sweeping) sweep() {
	x.stale = 0
	for {
		end := x.ended()
		change := math.Abs(end - x.end)
		x.end = end
		for k := range x.value {
			if x.sweeps%2 == 1 {
				k = len(x.value) - 1 - k
			}
			change = max(change, x.backup(k))
		}
		x.sweeps++
		if change <= x.residual {
			return
		}
	}
}

// backup computes the values of a state's actions and returns by how much that of
// the state changed.
func (x *sweeping) backup(s int) float64 {
	old := x.value[s]
	if x.terminal[s] {
		x.value[s] = x.end
		return math.Abs(x.end - old)
	}
	n := x.t.Actions
	row := x.q[s*n : (s+1)*n]
	for a := range row {
		seen := x.counts.N(s, a)
		if seen == 0 {
			row[a] = x.untried()
			continue
		}
		next, count := x.counts.Row(s, a)
		v := 0.0
		for k, u := range next {
			v += count[k] * x.value[u]
		}
		row[a] = min(x.top, x.tried(a, seen, x.counts.Rewards(s, a).Mean, x.gamma*v/seen))
	}
	x.value[s] = argmax.Max(row)
	return math.Abs(x.value[s] - old)
}

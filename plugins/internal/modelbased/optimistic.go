package modelbased

import (
	"math"

	"github.com/rlrun/rlrun/internal/induction"
	"github.com/rlrun/rlrun/plugins/internal/argmax"
)

// Backups is a Construction that says what actions are worth, given the values of
// states. There need not be one model behind it: it may be the best of a set.
type Backups interface {
	Construction
	// Refresh updates the construction from the data, before a plan.
	Refresh()
	// Sweep is called before the states are backed up with left steps to go, 1 where
	// there is no horizon.
	Sweep(value []float64, left int)
	// Backup writes the values of all actions in s, which is not terminal, into q.
	Backup(q []float64, s int, value []float64)
}

// sweep writes the values of all actions into q.
func sweep(m Backups, x *Experience, q, value []float64, left int) {
	m.Sweep(value, left)
	n := x.Task.Actions
	for s := range value {
		row := q[s*n : (s+1)*n]
		if x.Terminals.Is[s] {
			clear(row)
		} else {
			m.Backup(row, s, value)
		}
	}
}

// Induction is a Planner for the steps left, by backward induction (Puterman 1994,
// §4.5). Ties are broken at random.
type Induction struct {
	Model   Backups   // what a pair is worth by the values of the next states
	Horizon int       // number of steps to plan for, at least 1
	Q       []float64 // of pair i with h steps to go: Q[h*S*A+i]

	x     *Experience `snapshot:"-"`
	value []float64
}

// Episodic is the design of an agent that plans for a number of steps, at the start of
// every episode and after so many steps.
func Episodic(m Backups, horizon int) Design {
	return Design{
		Construction: m,
		Planner:      &Induction{Model: m, Horizon: horizon},
		Trigger:      Trigger{Episode: true, Horizon: horizon},
		Criterion:    Criterion{Horizon: horizon},
	}
}

// Start implements Planner.
func (p *Induction) Start(x *Experience) {
	if p.x == nil {
		p.x, p.value = x, make([]float64, x.Task.States)
		p.Q = make([]float64, (p.Horizon+1)*x.Task.States*x.Task.Actions)
	}
}

// Plan implements Planner.
func (p *Induction) Plan(int) {
	p.Model.Refresh()
	clear(p.value)
	n := p.x.Task.Actions
	pairs := len(p.value) * n
	induction.Backward([][]float64{p.value}, p.Horizon, func(h int, value, _ []float64) bool {
		q := p.Q[h*pairs : (h+1)*pairs]
		sweep(p.Model, p.x, q, value, h)
		for s := range value {
			value[s] = argmax.Max(q[s*n : (s+1)*n])
		}
		return false
	})
}

// Action implements Planner.
func (p *Induction) Action(s, left int) int {
	n := p.x.Task.Actions
	i := (left*p.x.Task.States + s) * n
	return argmax.Any(p.Q[i:i+n], p.x.Rand)
}

// maxSweeps bounds the sweeps of extended value iteration, where only confidence sets
// that are scaled to almost nothing need more, and those of Greedy that make no progress.
const maxSweeps = 10_000

// Extended is a Planner for the reward per step by extended value iteration (Jaksch,
// Ortner & Auer 2010, §3.1), which goes on from the values of the last plan. It ends when the
// span of the last change is at most the tolerance. If every pair may lead to the best state,
// it converges whatever the periods (ibid., Theorem 7). A plan breaks ties at random.
type Extended struct {
	Model     Backups        // what a pair is worth by the values of the next states
	Tolerance func() float64 // of a plan, in units of reward, > 0
	Policy    []int          // action of each state in the last plan
	Gain      float64        // optimistic reward per step of the last plan
	Value     []float64      // of each state, relative to the others

	x       *Experience `snapshot:"-"`
	q, next []float64
}

// Start implements Planner.
func (p *Extended) Start(x *Experience) {
	if p.x == nil {
		p.x, p.q = x, make([]float64, x.Task.States*x.Task.Actions)
		p.Value, p.next = make([]float64, x.Task.States), make([]float64, x.Task.States)
		p.Policy = make([]int, x.Task.States)
	}
	clear(p.Value)
}

// Plan implements Planner.
func (p *Extended) Plan(int) {
	p.Model.Refresh()
	n, enough := p.x.Task.Actions, p.Tolerance()
	for range maxSweeps {
		sweep(p.Model, p.x, p.q, p.Value, 1)
		lo, hi, least := math.Inf(1), math.Inf(-1), math.Inf(1)
		for s := range p.next {
			v := argmax.Max(p.q[s*n : (s+1)*n])
			p.next[s] = v
			d := v - p.Value[s]
			lo, hi, least = min(lo, d), max(hi, d), min(least, v)
		}
		for s := range p.next {
			p.next[s] -= least
		}
		p.Value, p.next = p.next, p.Value
		p.Gain = (lo + hi) / 2
		if hi-lo <= enough {
			break
		}
	}
	for s := range p.Policy {
		p.Policy[s] = argmax.Any(p.q[s*n:(s+1)*n], p.x.Rand)
	}
}

// Action implements Planner.
func (p *Extended) Action(s, _ int) int { return p.Policy[s] }

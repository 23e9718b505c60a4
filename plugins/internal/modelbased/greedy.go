package modelbased

import (
	"math"

	"github.com/rlrun/rlrun/plugins/internal/argmax"
)

// Optimism is a Construction for Greedy.
type Optimism interface {
	Construction
	// Backup writes the values of all actions in s, which is not terminal, into q, given
	// the values of states and of the end of an episode.
	Backup(q []float64, s int, value []float64, end float64)
	// EndValue returns the value of the end of an episode.
	EndValue(value []float64) float64
}

// Greedy is a Planner that acts greedily for the values of actions. It
// keeps them up to date to a Residual, in units of value, by sweeps of Gauss-Seidel
// value iteration. A step changes the values of one state only: unless these changes add
// up to more than the residual there is no sweep. Ties are broken at random.
type Greedy struct {
	Model    Optimism  // what backups use
	Residual float64   // largest error of Value that is left, > 0
	Q        []float64 // of pair s*A+a
	Value    []float64 // of each state
	EndValue float64   // of terminal states
	Sweeps   int       // made in this run

	x     *Experience `snapshot:"-"`
	stale float64     // sum of the changes since the last sweep
}

// Stepwise is the design of an agent that is greedy for an optimistic model with discount
// gamma. It plans after a step that has changed values by more than a thousandth of width,
// the largest reward less the smallest.
func Stepwise(m Optimism, gamma, width float64) Design {
	return Design{
		Construction: m,
		Planner:      &Greedy{Model: m, Residual: 1e-3 * width},
		Trigger:      Trigger{Changes: true},
		Criterion:    Criterion{Gamma: gamma},
	}
}

// Start implements Planner.
func (p *Greedy) Start(x *Experience) {
	if p.x == nil {
		p.x = x
		p.Q, p.Value = make([]float64, x.Task.States*x.Task.Actions), make([]float64, x.Task.States)
	}
	clear(p.Value) // a model may begin with them
	p.EndValue = p.Model.EndValue(p.Value)
	for s := range p.Value {
		p.backup(s)
	}
	p.stale, p.Sweeps = 0, 0
}

// Begin says that an episode begins.
func (p *Greedy) Begin() { p.stale += math.Abs(p.Model.EndValue(p.Value) - p.EndValue) }

// Update says that what is known of s has changed.
func (p *Greedy) Update(s int) { p.stale += p.backup(s) }

// Refresh says that everything has changed.
func (p *Greedy) Refresh() { p.stale = math.Inf(1) }

// Outdated reports whether a plan is due.
func (p *Greedy) Outdated() bool { return p.stale > p.Residual }

// Plan implements Planner. It makes sweeps in alternating directions until one changes no
// value by more than the residual. It also stops after maxSweeps sweeps in a row whose
// change was not smaller than one before, as when values are so large that rounding
// exceeds the residual.
func (p *Greedy) Plan(int) {
	p.stale = 0
	least := math.Inf(1)
	for stuck := 0; stuck < maxSweeps; stuck++ {
		end := p.Model.EndValue(p.Value)
		change := math.Abs(end - p.EndValue)
		p.EndValue = end
		for k := range p.Value {
			if p.Sweeps%2 == 1 {
				k = len(p.Value) - 1 - k
			}
			change = max(change, p.backup(k))
		}
		p.Sweeps++
		if change <= p.Residual {
			return
		}
		if change < least {
			least, stuck = change, 0
		}
	}
}

// backup computes the values of a state's actions and returns the change of the
// state's value.
func (p *Greedy) backup(s int) float64 {
	old := p.Value[s]
	if p.x.Terminals.Is[s] {
		p.Value[s] = p.EndValue
	} else {
		n := p.x.Task.Actions
		row := p.Q[s*n : (s+1)*n]
		p.Model.Backup(row, s, p.Value, p.EndValue)
		p.Value[s] = argmax.Max(row)
	}
	return math.Abs(p.Value[s] - old)
}

// Action implements Planner.
func (p *Greedy) Action(s, _ int) int {
	n := p.x.Task.Actions
	return argmax.Any(p.Q[s*n:(s+1)*n], p.x.Rand)
}

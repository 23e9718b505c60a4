package modelbased

import (
	"math"
	"math/bits"
	"slices"

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
	Model Optimism // what backups use
	// Local says that a backup of s uses nothing but the counts of s, the values of the
	// successors seen and, if Own, that of s. Then sweeps leave out the states for which all
	// this is as it was, since backups would change nothing.
	Local, Own bool
	Residual   float64   // largest error of Value that is left, > 0
	Q          []float64 // of pair s*A+a
	Value      []float64 // of each state
	EndValue   float64   // of terminal states
	Sweeps     int       // made in this run

	x        *Experience `snapshot:"-"`
	stale    float64     // sum of the changes since the last sweep
	from     [][]int32   // by state: those that have led there
	outdated []uint64    // a bit for each state whose backup may change something; nil for no such list
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
		if p.Local && x.Task.States > fewStates {
			p.from, p.outdated = make([][]int32, x.Task.States), make([]uint64, (x.Task.States+63)/64)
		}
	}
	for s := range p.from {
		p.from[s] = p.from[s][:0]
	}
	clear(p.Value) // a model may begin with them
	p.EndValue = p.Model.EndValue(p.Value)
	for s := range p.Value {
		p.backup(s)
	}
	for k := range p.outdated {
		p.outdated[k] = math.MaxUint64
	}
	p.stale, p.Sweeps = 0, 0
}

// fewStates is up to how many it is faster to sweep over all of them.
const fewStates = 128

// Begin says that an episode begins.
func (p *Greedy) Begin() { p.stale += math.Abs(p.Model.EndValue(p.Value) - p.EndValue) }

// Update says that what is known of s has changed.
func (p *Greedy) Update(s int) { p.stale += p.backup(s) }

// Learn says that a step, which has been counted, has led from s to next by action a.
func (p *Greedy) Learn(s, a, next int) {
	if p.outdated != nil {
		row, count := p.x.Counts.Row(s, a)
		if k, _ := slices.BinarySearch(row, int32(next)); count[k] == 1 && !slices.Contains(p.from[next], int32(s)) {
			p.from[next] = append(p.from[next], int32(s))
		}
	}
	p.Update(s)
}

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
		change = max(change, p.sweep())
		p.Sweeps++
		if change <= p.Residual {
			return
		}
		if change < least {
			least, stuck = change, 0
		}
	}
}

// sweep makes backups, upwards and downwards in turns, and returns the largest change of a value.
func (p *Greedy) sweep() (change float64) {
	last := len(p.Value) - 1
	switch down := p.Sweeps%2 == 1; {
	case p.outdated == nil:
		for s := range p.Value {
			if down {
				s = last - s
			}
			change = max(change, p.backup(s))
		}
	case down:
		for s := last; s >= 0; s-- {
			if behind := p.outdated[s/64] << (63 - s%64); behind == 0 {
				s &^= 63
			} else {
				s -= bits.LeadingZeros64(behind)
				change = max(change, p.backup(s))
			}
		}
	default:
		for s := 0; s <= last; s++ {
			if ahead := p.outdated[s/64] >> (s % 64); ahead == 0 {
				s |= 63
			} else if s += bits.TrailingZeros64(ahead); s <= last {
				change = max(change, p.backup(s))
			}
		}
	}
	return change
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
	if p.outdated != nil {
		p.mark(s, old)
	}
	return math.Abs(p.Value[s] - old)
}

// mark says what a backup of s, whose value was old, has made outdated.
func (p *Greedy) mark(s int, old float64) {
	p.outdated[s/64] &^= 1 << (s % 64)
	if p.Value[s] == old {
		return
	}
	for _, u := range p.from[s] {
		p.outdated[u/64] |= 1 << (u % 64)
	}
	if p.Own {
		p.outdated[s/64] |= 1 << (s % 64)
	}
}

// Action implements Planner.
func (p *Greedy) Action(s, _ int) int {
	n := p.x.Task.Actions
	return argmax.Any(p.Q[s*n:(s+1)*n], p.x.Rand)
}

package voi

import "math"

// Criterion is what a planner maximises in a task with episodes.
type Criterion int

// The criteria.
const (
	// PerStep is the reward per step of the rest of the run.
	PerStep Criterion = iota
	// PerEpisode is the mean return of the episodes in the rest of the run.
	PerEpisode
	// PerRun is PerStep where episodes pay, and PerEpisode where they cost: the beginning of an episode is worth
	// at least what it is worth under PerEpisode.
	PerRun
)

// SetCriterion sets the criterion, PerStep by default. It is to be called before the first state is added, and matters once
// AddEnd is called. All criteria but PerStep give rewards a zero: a constant that is added to all of them matters.
func (p *Planner) SetCriterion(c Criterion) { p.model.criterion, p.b.absolute = c, c != PerStep }

// beginning, β, is what the beginning of an episode is worth if the return of episodes counts, in ranges of rewards. It is
// positive, so that it is worse never to end an episode and to be paid nothing.
const beginning = 1

// zeroed reports whether rewards have a zero.
func (m *meanModel) zeroed() bool { return m.criterion != PerStep && m.b.end >= 0 }

// closed reports whether the value of the end is that of final. Otherwise it is that of the next beginning.
func (m *meanModel) closed() bool { return m.zeroed() && !m.continues }

// setZero sets what is added to rewards in units of the bounds: what a reward of 0 lacks. The reward per step needs no zero.
func (m *meanModel) setZero() {
	if m.zero = 0; m.zeroed() {
		m.zero = m.b.low / m.b.scale
	}
}

// setFinal moves the value of the end, κ, towards that for which the beginning of an episode has its value, and reports
// whether it moved. Under the optimal policy the value of the beginning grows with that of the end at a rate of at
// most 1. So steps by the difference approach the solution from one side. If the rate is small they are too short.
// So they are doubled from one to the next until the side changes. With PerRun the end becomes the next beginning once
// that is worth more.
func (m *meanModel) setFinal() bool {
	if !m.zeroed() {
		return false
	}
	begin := &m.b.pairs[int(m.b.end)*m.b.actions]
	old := m.final
	if begin.n == 0 || len(m.b.before[m.b.end]) == 0 { // no episode has ended
		m.final = 0
		return m.final != old
	}
	missing := beginning - m.shown(begin, m.v)
	if m.continues {
		if m.continues = missing <= 0; !m.continues {
			m.final, m.step = beginning, 1
		}
		return !m.continues
	}
	if math.Abs(missing) <= 1e-3 {
		return false
	}
	if m.step *= 2; m.step*missing <= 0 {
		m.step = math.Copysign(1, missing)
	}
	// The return of an episode is between those of the least and of the largest reward for the rest of the run.
	horizon := 1 / (1 - m.gamma)
	low, high := beginning-horizon*max(0, m.zero+1), beginning-horizon*min(0, m.zero)
	m.final = min(max(old+math.Abs(m.step)*missing, low), high)
	if m.criterion == PerRun && m.final < beginning { // episodes pay
		m.continues = true
	}
	return m.final != old
}

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
	// PerRun is PerStep if episodes pay, and PerEpisode if they cost. So the value of the
	// beginning of an episode is at least its value under PerEpisode.
	PerRun
)

// SetCriterion sets the criterion. The default is PerStep. Call it before the first state is added;
// it has an effect after AddEnd. Adding a constant to all rewards changes the plan, except with
// PerStep.
func (p *Planner) SetCriterion(c Criterion) { p.model.criterion, p.belief.absolute = c, c != PerStep }

// beginning, β, is the value of the beginning of an episode if the return of episodes counts,
// in units of the range of rewards. It is positive: to be paid nothing and never to end an
// episode is worse.
const beginning = 1

// zeroed reports whether adding a constant to all rewards changes the plan.
func (m *meanModel) zeroed() bool { return m.criterion != PerStep && m.belief.end >= 0 }

// closed reports whether the end of an episode has the value final. Otherwise it has the value
// of the next beginning.
func (m *meanModel) closed() bool { return m.zeroed() && !m.continues }

// setZero sets the number that is added to rewards in units of the bounds, so that a reward of 0
// becomes 0. PerStep adds nothing.
func (m *meanModel) setZero() {
	if m.zero = 0; m.zeroed() {
		m.zero = m.belief.low / m.belief.scale
	}
}

// setFinal moves the value of the end, κ, towards its solution, and reports whether it moved. With
// the solution, the beginning of an episode has the value β. Under the optimal policy the value of
// the beginning grows with κ at a rate of at most 1. So steps by the difference approach the
// solution from one side. If the rate is small, they are too short: each step is twice as long as
// the one before, until the side changes. With PerRun the end becomes the next beginning as soon as
// that has the larger value.
func (m *meanModel) setFinal() bool {
	if !m.zeroed() {
		return false
	}
	begin := &m.belief.pairs[int(m.belief.end)*m.belief.actions]
	old := m.final
	if begin.n == 0 || len(m.belief.before[m.belief.end]) == 0 { // no episode has ended
		m.final = 0
		return m.final != old
	}
	missing := beginning - m.shown(begin, m.values)
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
	// The return of an episode is between those of the least and of the largest reward for the
	// rest of the run.
	horizon := 1 / (1 - m.gamma)
	low, high := beginning-horizon*max(0, m.zero+1), beginning-horizon*min(0, m.zero)
	m.final = min(max(old+math.Abs(m.step)*missing, low), high)
	if m.criterion == PerRun && m.final < beginning { // episodes pay
		m.continues = true
	}
	return m.final != old
}

package voi

import "math"

// PerEpisode makes the planner maximise the return of episodes in place of the reward of the run (docs/theory.md §3.8). It
// is to be called before the first state is added. It changes nothing until AddEnd is called. Rewards then have a zero: a
// constant that is added to all of them matters.
func (p *Planner) PerEpisode() { p.model.perEpisode, p.b.absolute = true, true }

// beginning, β, is what the beginning of an episode is worth if the return of episodes counts, in ranges of rewards. It is
// positive, so that it is worse never to end an episode and to be paid nothing.
const beginning = 1

// closed reports whether the value of the end is that of final.
func (m *meanModel) closed() bool { return m.perEpisode && m.b.end >= 0 }

// setZero sets what is added to rewards in units of the bounds: what a reward of 0 lacks if the return of episodes
// counts. The reward of the run needs no zero.
func (m *meanModel) setZero() {
	if m.zero = 0; m.closed() {
		m.zero = m.b.low / m.b.scale
	}
}

// setFinal moves the value of the end, κ, towards that for which the beginning of an episode has its value, and reports
// whether it moved. Under the optimal policy the value of the beginning grows with that of the end at a rate of at
// most 1. So steps by the difference approach the solution from one side. If the rate is small they are too short.
// So they are doubled from one to the next until the side changes.
func (m *meanModel) setFinal() bool {
	if !m.closed() {
		return false
	}
	begin := &m.b.pairs[int(m.b.end)*m.b.actions]
	old := m.final
	if begin.n == 0 || len(m.b.before[m.b.end]) == 0 { // no episode has ended
		m.final = 0
		return m.final != old
	}
	missing := beginning - m.shown(begin, m.v)
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
	return m.final != old
}

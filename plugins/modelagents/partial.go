package modelagents

import "github.com/rlrun/rlrun/mdp"

// partial is what is known of a task, as an mdp.Model with a state more: pairs
// that are known lead where they have led, as often, all others to that state, the
// last, which is never left. Terminal states are never left either, and pay nothing.
type partial struct {
	counts   *mdp.Counts
	known    []bool // of each pair
	terminal []bool
	reward   func(s, a int) float64 // of a known pair
	outside  float64                // reward of other pairs
	forever  float64                // reward in the last state
	next     [1]int32               // the row returned last, where it is none of counts
	prob     []float64              // the row returned last
}

func (m *partial) NumStates() int { return m.counts.NumStates() + 1 }

func (m *partial) NumActions() int { return m.counts.NumActions() }

func (m *partial) pair(s, a int) int { return s*m.counts.NumActions() + a }

// Transition implements mdp.Model. Its answer is valid until the next call.
func (m *partial) Transition(s, a int) ([]int32, []float64) {
	last := m.counts.NumStates()
	m.prob = m.prob[:0]
	switch {
	case s == last, m.terminal[s]:
		m.next[0] = int32(s)
	case !m.known[m.pair(s, a)]:
		m.next[0] = int32(last)
	default:
		next, count := m.counts.Row(s, a)
		for _, c := range count {
			m.prob = append(m.prob, c/m.counts.N(s, a))
		}
		return next, m.prob
	}
	m.prob = append(m.prob, 1)
	return m.next[:], m.prob
}

// Reward implements mdp.Model.
func (m *partial) Reward(s, a int) float64 {
	switch {
	case s == m.counts.NumStates():
		return m.forever
	case m.terminal[s]:
		return 0
	case !m.known[m.pair(s, a)]:
		return m.outside
	}
	return m.reward(s, a)
}

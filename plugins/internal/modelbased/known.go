package modelbased

import "github.com/rlrun/rlrun/mdp"

// Known is an mdp.Model of what is known of a task, with one more state. A known pair
// leads where it has led, as often. All others lead to the last state, which is never
// left. Terminal states are never left either, and pay nothing.
type Known struct {
	Data
	Visits  float64                // after which a pair is known
	States  []bool                 // the states whose pairs are known; nil to go by visits alone
	Pays    func(s, a int) float64 // reward of a known pair; nil for its mean reward
	Outside float64                // reward of other pairs
	Forever float64                // reward in the last state

	next [1]int32  // the row returned last, where it is none of the counts
	prob []float64 // the row returned last
}

// Models implements Models.
func (m *Known) Models() []mdp.Model { return []mdp.Model{m} }

// Known reports whether a pair is known.
func (m *Known) Known(s, a int) bool {
	if m.States != nil {
		return m.States[s]
	}
	return m.Counts.N(s, a) >= m.Visits
}

// NumStates implements mdp.Model.
func (m *Known) NumStates() int { return m.Task.States + 1 }

// NumActions implements mdp.Model.
func (m *Known) NumActions() int { return m.Task.Actions }

// Transition implements mdp.Model. Its answer is valid until the next call.
func (m *Known) Transition(s, a int) ([]int32, []float64) {
	last := m.Task.States
	m.prob = m.prob[:0]
	switch {
	case s == last, m.Terminals.Is[s]:
		m.next[0] = int32(s)
	case !m.Known(s, a):
		m.next[0] = int32(last)
	default:
		next, count := m.Counts.Row(s, a)
		for _, c := range count {
			m.prob = append(m.prob, c/m.Counts.N(s, a))
		}
		return next, m.prob
	}
	m.prob = append(m.prob, 1)
	return m.next[:], m.prob
}

// Reward implements mdp.Model.
func (m *Known) Reward(s, a int) float64 {
	switch {
	case s == m.Task.States:
		return m.Forever
	case m.Terminals.Is[s]:
		return 0
	case !m.Known(s, a):
		return m.Outside
	case m.Pays != nil:
		return m.Pays(s, a)
	}
	return m.Counts.Rewards(s, a).Mean
}

// Lookahead writes r(s,a) + discount Σ_u p(u|s,a) value(u) into q, for all a.
func (m *Known) Lookahead(q []float64, s int, discount float64, value []float64) {
	for a := range q {
		if s == m.Task.States || m.Terminals.Is[s] || !m.Known(s, a) {
			next, _ := m.Transition(s, a)
			q[a] = m.Reward(s, a) + discount*value[next[0]]
			continue
		}
		next, count := m.Counts.Row(s, a)
		n, v := m.Counts.N(s, a), 0.0
		for k, u := range next {
			v += count[k] / n * value[u]
		}
		pays := m.Counts.Rewards(s, a).Mean
		if m.Pays != nil {
			pays = m.Pays(s, a)
		}
		q[a] = pays + discount*v
	}
}

package modelagents

import (
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// knownModel is an mdp.Model of what is known of a task, with a state more. Known pairs
// lead where they have led, as often; all others lead to the last state, which is never
// left. Terminal states are never left either, and pay nothing.
type knownModel struct {
	visits  float64                // after which a pair is known
	states  []bool                 // the states whose pairs are known; nil to go by visits alone
	reward  func(s, a int) float64 // of a known pair; nil for its mean reward
	outside float64                // reward of other pairs
	forever float64                // reward in the last state

	x    *modelbased.Experience `snapshot:"-"`
	next [1]int32               // the row returned last, where it is none of the counts
	prob []float64              // the row returned last
}

// Start implements modelbased.Construction.
func (m *knownModel) Start(x *modelbased.Experience) { m.x = x }

// Models implements modelbased.Models.
func (m *knownModel) Models() []mdp.Model { return []mdp.Model{m} }

// known reports whether a pair is known.
func (m *knownModel) known(s, a int) bool {
	if m.states != nil {
		return m.states[s]
	}
	return m.x.Counts.N(s, a) >= m.visits
}

// NumStates implements mdp.Model.
func (m *knownModel) NumStates() int { return m.x.Task.States + 1 }

// NumActions implements mdp.Model.
func (m *knownModel) NumActions() int { return m.x.Task.Actions }

// Transition implements mdp.Model. Its answer is valid until the next call.
func (m *knownModel) Transition(s, a int) ([]int32, []float64) {
	last := m.x.Task.States
	m.prob = m.prob[:0]
	switch {
	case s == last, m.x.Terminals.Is[s]:
		m.next[0] = int32(s)
	case !m.known(s, a):
		m.next[0] = int32(last)
	default:
		next, count := m.x.Counts.Row(s, a)
		for _, c := range count {
			m.prob = append(m.prob, c/m.x.Counts.N(s, a))
		}
		return next, m.prob
	}
	m.prob = append(m.prob, 1)
	return m.next[:], m.prob
}

// Reward implements mdp.Model.
func (m *knownModel) Reward(s, a int) float64 {
	switch {
	case s == m.x.Task.States:
		return m.forever
	case m.x.Terminals.Is[s]:
		return 0
	case !m.known(s, a):
		return m.outside
	case m.reward != nil:
		return m.reward(s, a)
	}
	return m.x.Counts.Rewards(s, a).Mean
}

// Lookahead implements modelbased.Lookahead.
func (m *knownModel) Lookahead(q []float64, s int, discount float64, value []float64) {
	for a := range q {
		next, prob := m.Transition(s, a)
		v := 0.0
		for k, u := range next {
			v += prob[k] * value[u]
		}
		q[a] = m.Reward(s, a) + discount*v
	}
}

package modelbased

import "github.com/rlrun/rlrun/mdp"

// TerminalSet holds the states in which an episode terminated and in which no action
// was taken since.
type TerminalSet struct {
	Is  []bool // by state
	len int
}

// NewTerminalSet returns an empty set.
func NewTerminalSet(states int) TerminalSet { return TerminalSet{Is: make([]bool, states)} }

// Clear empties the set.
func (t *TerminalSet) Clear() {
	clear(t.Is)
	t.len = 0
}

// Len returns the number of terminal states.
func (t *TerminalSet) Len() int { return t.len }

// Add adds a state and reports whether it was missing.
func (t *TerminalSet) Add(s int) bool {
	if t.Is[s] {
		return false
	}
	t.Is[s] = true
	t.len++
	return true
}

// Remove removes a state and reports whether it was there.
func (t *TerminalSet) Remove(s int) bool {
	if !t.Is[s] {
		return false
	}
	t.Is[s] = false
	t.len--
	return true
}

// Mark returns m with the terminal states never left and paying nothing, m itself if there
// are none. It is made in the memory of dst, which holds what Mark has put there.
func (t *TerminalSet) Mark(dst **mdp.Tabular, m *mdp.Tabular) *mdp.Tabular {
	if t.len == 0 {
		return m
	}
	*dst = m.Terminating(*dst, t.Is)
	return *dst
}

// Restarting returns m with another episode after each terminal state, in a first state
// drawn by the observed frequencies; m itself if there are no terminal states.
func (x *Experience) Restarting(m *mdp.Tabular) (*mdp.Tabular, error) {
	if x.Terminals.len == 0 {
		return m, nil
	}
	d := mdp.Definition{States: m.NumStates(), Actions: m.NumActions()}
	starts := 0.0
	for s, end := range x.Terminals.Is {
		if end {
			d.Terminal = append(d.Terminal, s)
		} else {
			starts += x.Starts[s]
		}
	}
	for s, n := range x.Starts {
		if n > 0 && !x.Terminals.Is[s] {
			d.Initial = append(d.Initial, mdp.Weight{S: s, P: n / starts})
		}
	}
	m, err := mdp.Generate(d, func(s, a int, row *mdp.Row) {
		if x.Terminals.Is[s] {
			return
		}
		next, prob := m.Transition(s, a)
		for i, u := range next {
			row.Add(int(u), prob[i])
		}
		row.Reward(m.Reward(s, a))
	})
	if err != nil {
		return nil, err
	}
	return m.Restarting()
}

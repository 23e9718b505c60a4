package mdp

import (
	"fmt"
	"slices"
)

// Reordered returns a new model. In every state its action a is action order[a]
// of m, with the name of that action if m has names. order must have every
// action of m once. name is the new model's name; the description is that of m.
func (m *Tabular) Reordered(name string, order []int) (*Tabular, error) {
	sorted := slices.Sorted(slices.Values(order))
	for a := range m.actions {
		if len(sorted) != m.actions || sorted[a] != a {
			return nil, fmt.Errorf("order %v has not each of the actions 0 to %d once", order, m.actions-1)
		}
	}
	d := Definition{Name: name, Description: m.description, States: m.states, Actions: m.actions, Notes: m.notes}
	for _, a := range order[:len(m.actionNames)] {
		d.ActionNames = append(d.ActionNames, m.actionNames[a])
	}
	for i, s := range m.initial {
		d.Initial = append(d.Initial, Weight{S: int(s), P: m.initialProb[i]})
	}
	for s := range m.states {
		if m.Terminal(s) {
			d.Terminal = append(d.Terminal, s)
		}
	}
	return Generate(d, func(s, a int, row *Row) {
		if m.Terminal(s) || !m.Available(s, order[a]) {
			return
		}
		next, prob := m.Transition(s, order[a])
		rewards := m.SuccessorRewards(s, order[a])
		row.Noise = m.Noise(s, order[a])
		for k, y := range next {
			if rewards != nil {
				row.AddRewarded(int(y), prob[k], rewards[k])
			} else {
				row.Add(int(y), prob[k])
			}
		}
		if rewards == nil {
			row.Reward(m.Reward(s, order[a]))
		}
	})
}

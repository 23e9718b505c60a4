package options

import (
	"slices"
	"strconv"
)

// Deviations follow the greedy policy except for one action in the present
// state.
var Deviations Kind = deviationsKind{named: named{"deviations", "one action in the present state, then the greedy policy, an option for each action"}}

type deviationsKind struct {
	named
	plain
}

func (deviationsKind) FromModels(b *Belief) error {
	for a := range b.MeanModel.NumActions() {
		pi := slices.Clone(b.Optimal)
		pi[b.State] = a
		before := len(b.candidates)
		b.Directed("deviation "+strconv.Itoa(a), pi)
		if len(b.candidates) > before {
			b.candidates[before].Option = Deviation{a, b.Optimal}
		}
	}
	return nil
}

func (deviationsKind) FromTables(t *Tables) {
	for a := range t.Actions() {
		t.ThenGreedy("deviation", a, a)
	}
}

func (deviationsKind) Action(t *Tables) int {
	if t.First() {
		return t.Following().Of
	}
	return t.agent.Greedy()
}

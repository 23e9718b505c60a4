package options

import (
	"strconv"

	"github.com/rlrun/rlrun/mdp"
)

// Constants take the same action at every step. With one state, they are the arms of a bandit.
var Constants Kind = constantsKind{named{"constants", "the same action at every step, an option for each action"}}

type constantsKind struct{ named }

func (constantsKind) FromModels(b *Belief) error {
	for a := range b.MeanModel.NumActions() {
		b.Directed("action "+strconv.Itoa(a), mdp.Constant(b.MeanModel.NumStates(), a))
	}
	return nil
}

func (constantsKind) Prepare(t *Tables) error {
	t.NeedPolicies(t.Actions())
	return nil
}

func (constantsKind) FromTables(t *Tables) {
	for a := range t.Actions() {
		t.OwnPolicy("action", a, a)
	}
}

func (constantsKind) Action(t *Tables) int { return t.Following().Of }

package options

import "github.com/rlrun/rlrun/mdp"

// Uniform takes every action with equal probability. It is uninformed.
var Uniform Kind = uniformKind{named: named{"uniform", "uniformly random actions"}}

type uniformKind struct {
	named
	uninformed
}

func (k uniformKind) FromModels(b *Belief) error {
	b.Uninformed(Candidate{Arm: Arm{Name: k.String()}, Policy: mdp.Uniform{}})
	return nil
}

func (uniformKind) Prepare(t *Tables) error {
	t.NeedUniform()
	return nil
}

func (k uniformKind) FromTables(t *Tables) { t.Mixed(k.String()) }

func (uniformKind) Action(t *Tables) int { return t.RNG.IntN(t.Actions()) }

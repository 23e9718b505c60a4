package options

// Greedy is the policy that is optimal for the mean model, or for the mean of the
// tables. It is always among the options.
var Greedy Kind = greedyKind{named: named{"greedy", "the greedy option, which is always there"}}

type greedyKind struct {
	named
	plain
}

func (greedyKind) FromModels(*Belief) error { return nil }

func (greedyKind) FromTables(*Tables) {}

func (greedyKind) Action(t *Tables) int { return t.agent.Greedy() }

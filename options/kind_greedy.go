package options

// Greedy is the policy that is optimal for the mean model, or for the mean of the
// tables. It is always among the options.
var Greedy Kind = greedyKind{}

type greedyKind struct{ plain }

func (greedyKind) String() string { return "greedy" }

func (greedyKind) Doc() string { return "the greedy option, which is always there" }

func (greedyKind) FromModels(*Belief) error { return nil }

func (greedyKind) FromTables(*Tables) {}

func (greedyKind) Action(t *Tables) int { return t.agent.Greedy() }

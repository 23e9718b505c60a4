package modelagents

import (
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// Prior are the parameters of agents whose belief is that of Osband's TabulaRL: independent
// Dirichlet rows, and normal rewards of known precision.
type Prior struct {
	Alpha float64 `json:"alpha" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Prior Dirichlet parameter of each successor. The default of psrl and boss is a choice of ours, made on development tasks (docs/studies/families.md, Defaults of learners); that of the others is TabulaRL's. A value of 1 over the number of states is better in tasks with many states and few successors."`
	Mu0   float64 `json:"mu0" jsonschema_description:"Prior mean of a mean reward; default of TabulaRL. A high value makes unknown pairs attractive."`
	Tau0  float64 `json:"tau0" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Prior precision of a mean reward; default of TabulaRL."`
	Tau   float64 `json:"tau" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Precision of rewards around their mean, assumed known. The default of psrl is a choice of ours, made on development tasks (docs/studies/families.md, Defaults of learners); that of the others is TabulaRL's. Larger rewards need a smaller value. If rewards have little noise, psrl and boss learn faster with a larger value, and much faster in tasks that pay once per episode."`
	// IgnoreLast is for the comparison with TabulaRL.
	IgnoreLast bool `json:"ignore_last" jsonschema_description:"From the last step of a truncated episode, learn only the reward and not the successor, as TabulaRL does. By default the agent learns from it as from any other step, a choice of ours."`
}

// rewards is the prior of mean rewards.
func (p *Prior) rewards() normalReward { return normalReward{p.Mu0, p.Tau0, p.Tau} }

// maxAverage is up to how many states policy iteration takes.
const maxAverage = 2000

// checkAverage bounds the size of tasks whose reward per step is maximised exactly.
func checkAverage(t finite.Task) error {
	if t.States > maxAverage {
		return lanes.Unsupported("the average criterion is for up to %d states; %s has %d", maxAverage, t.Spec.ID, t.States)
	}
	return nil
}

// maxSuccessors bounds S²AK, for agents with K models that let every pair lead anywhere.
const maxSuccessors = 1 << 24

// checkSuccessors bounds the memory of so many models.
func checkSuccessors(t finite.Task, models int) error {
	if t.States > maxSuccessors/t.States/t.Actions/models {
		return lanes.Unsupported("%s has %d states and %d actions, too many for %d models in which all leads anywhere", t.Spec.ID, t.States, t.Actions, models)
	}
	return nil
}

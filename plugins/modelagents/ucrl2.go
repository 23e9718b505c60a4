package modelagents

import (
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// Sets are the parameters of agents that plan with the best model of a confidence set.
type Sets struct {
	Horizon int     `json:"horizon" jsonschema:"minimum=0" jsonschema_description:"0: maximise the reward per step, and plan when the visits to some pair have doubled; default of Jaksch, Ortner & Auer (2010) and of Filippi et al. (2010). H above 0: the version for episodes of H steps in Osband's TabulaRL, which plans at the start of each episode and after each H steps."`
	Delta   float64 `json:"delta" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1" jsonschema_description:"Accepted probability that the confidence sets fail; default of TabulaRL."`
	Scaling float64 `json:"scaling" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Factor of the widths of the confidence sets; divergences grow with its square. 1, the default, is the theory (Jaksch et al. 2010; Filippi et al. 2010). Smaller values explore less and are often better."`
}

// ucrl2Params are the parameters of UCRL2.
type ucrl2Params struct {
	Sets
	Widths string `json:"widths,omitempty" jsonschema:"enum=jaksch,enum=tabularl" jsonschema_description:"Widths of the confidence sets of a pair seen n times. jaksch: √(7 ln(2SAt/δ)/(2n)) for its reward and √(14 S ln(2At/δ)/n) for its transitions, where t is the step; default of Jaksch et al. (2010, equations 3 and 4). tabularl: √(4 L/n) and √(4 S L/n), L = ln(2SA(k+1)/δ), where k is the number of the plan."`
	finite.Bounds
}

// UCRL2 returns UCRL2 (Jaksch, Ortner & Auer 2010) as a plugin. It follows the best
// policy of the most rewarding model that the data allow, found by extended value
// iteration. It plans again when the visits to some pair have doubled. It assumes
// that observations are Markov states, that rewards are bounded and, for its
// guarantee and reward per step, that every state can be reached from every other.
// An episode that terminates then continues in the state in which the next one
// begins. With a horizon, termination means the same as for PSRL. A truncated step
// teaches like any other.
func UCRL2() vector.Plugin {
	return modelbased.Plugin("rlrun/ucrl2@1",
		"UCRL2 (Jaksch, Ortner & Auer 2010): the best policy of the best model within confidence sets.",
		ucrl2Params{Sets: defaultSets, Widths: "jaksch"},
		func(p ucrl2Params, t finite.Task) (func() modelbased.Design, error) {
			squares := (*confidence).jaksch
			if p.Widths == "tabularl" {
				squares = (*confidence).tabularl
			}
			return p.design(p.Bounds, t, squares, (*confidence).expect)
		})
}

var defaultSets = Sets{Delta: 0.05, Scaling: 1}

// design returns what makes an agent with confidence sets for a task.
func (p *Sets) design(b finite.Bounds, t finite.Task, squares func(*confidence) (r, p float64), best func(*confidence, int, int, []float64) float64) (func() modelbased.Design, error) {
	if err := finite.CheckHorizon(p.Horizon, t); err != nil {
		return nil, err
	}
	low, high, err := b.Of(t)
	return func() modelbased.Design {
		m := &confidence{p: p, low: low, span: high - low, pairs: make([]confidencePair, t.States*t.Actions), squares: squares, after: best}
		if p.Horizon > 0 {
			return modelbased.Episodic(m, p.Horizon)
		}
		return modelbased.Design{
			Construction: m,
			Planner:      &modelbased.Extended{Model: m, Tolerance: m.tolerance},
			Trigger:      modelbased.Trigger{Growth: 1, Ahead: true},
			Criterion:    modelbased.Criterion{Average: true},
			Restart:      true,
		}
	}, err
}

package modelagents

import (
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// rmaxParams are the parameters of R-MAX.
type rmaxParams struct {
	M       int     `json:"m" jsonschema_extras:"x-beyond=no pair is ever known" jsonschema:"minimum=1" jsonschema_description:"Visits after which a pair of state and action is known. The theory requires numbers far too large in practice (K1 of Brafman & Tennenholtz 2002). The default is a choice of ours, made on development tasks (docs/studies/families.md, Defaults of learners). Deterministic tasks need 1."`
	Horizon int     `json:"horizon" jsonschema:"minimum=0" jsonschema_description:"T: follow the best policy for T steps, then plan for T more (Brafman & Tennenholtz 2002). 0: the best discounted policy (Kakade 2003); default as in Strehl, Li & Littman (2009)."`
	Gamma   float64 `json:"gamma" when:"horizon=0" jsonschema:"minimum=0,exclusiveMaximum=1" jsonschema_description:"Discount, with a horizon of 0; the default is a choice of ours."`
	Refine  bool    `json:"refine" jsonschema_description:"Continue to learn about known pairs, and plan again when the visits to one have doubled. By default the estimates of a known pair are those of its first m visits, as in the paper."`
	finite.HighBound
}

// RMAX returns R-MAX (Brafman & Tennenholtz 2002) as a plugin. It follows the best
// policy of an optimistic model. There, known pairs have the transitions seen. All
// other pairs lead to a state where every step pays the largest reward (nothing in
// tasks that end and whose rewards are all losses). It plans when a pair becomes
// known, from the last solution on. It assumes that observations are Markov states,
// that the largest reward is known, and the same as PSRL about termination. A
// truncated step teaches like any other.
func RMAX() vector.Plugin {
	return modelbased.Plugin("rlrun/r-max@1",
		"R-MAX (Brafman & Tennenholtz 2002): the best policy of a model in which every unknown pair pays the largest reward for ever.",
		rmaxParams{M: 4, Gamma: 0.99},
		func(p rmaxParams, t finite.Task) (func() modelbased.Design, error) {
			if err := finite.CheckHorizon(p.Horizon, t); err != nil {
				return nil, err
			}
			high, err := p.HighBound.Of(t)
			return func() modelbased.Design {
				m := &modelbased.Known{Visits: float64(p.M), Outside: high, Forever: high}
				if high < 0 && !t.Spec.Continuing {
					m.Forever = 0 // the best of losses is to end at once
				}
				c := modelbased.Criterion{Horizon: p.Horizon, Gamma: p.Gamma}
				d := modelbased.Design{
					Construction: m,
					Planner:      &modelbased.Solver{Models: m, Criterion: c, Method: mdp.ModifiedPolicyIteration, Lookahead: m},
					Trigger:      modelbased.Trigger{Horizon: p.Horizon, Repeat: true, Visits: m.Visits, Terminals: true},
					Criterion:    c,
					MaxVisits:    m.Visits,
				}
				if p.Refine {
					d.MaxVisits, d.Trigger.Growth = 0, 1
				}
				return d
			}, err
		})
}

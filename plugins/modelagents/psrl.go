package modelagents

import (
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// psrlParams are the parameters of posterior sampling.
type psrlParams struct {
	Horizon   int     `json:"horizon" jsonschema:"minimum=0" jsonschema_description:"Steps to plan for, with a policy that depends on the steps left (Osband, Russo & Van Roy 2013): for episodic tasks, the length of an episode. If an episode is longer, or never ends, a model is drawn after each horizon steps. 0, the default and a choice of ours: a stationary policy, by criterion and resample."`
	Criterion string  `json:"criterion,omitempty" when:"horizon=0" jsonschema:"enum=discounted,enum=average" jsonschema_description:"Criterion of a stationary policy. discounted: by gamma; default as in Strens (2000) and Asmuth et al. (2009). average: reward per step, for continuing tasks (Ouyang et al. 2017)."`
	Gamma     float64 `json:"gamma" when:"horizon=0 and criterion=discounted or horizon=0 and resample=geometric" jsonschema:"minimum=0,exclusiveMaximum=1" jsonschema_description:"Discount of criterion discounted and rate of resample geometric; the default is a choice of ours."`
	Resample  string  `json:"resample,omitempty" when:"horizon=0" jsonschema:"enum=doubling,enum=geometric,enum=visits" jsonschema_description:"When a model is drawn for a stationary policy. doubling: at the start of an episode and when the visits to some pair have doubled since (Ouyang et al. 2017, the second criterion). geometric: at the start of an episode and after every step with probability 1-gamma (Xu, Dong & Van Roy 2024). visits: at the start of a run and when some pair has been visited visits times, not at the start of episodes (Asmuth et al. 2009). Default: doubling, a choice of ours; for boss visits, as in its paper."`
	Visits    int     `json:"visits" jsonschema_extras:"x-beyond=no visits ever make it draw a model" when:"horizon=0 and resample=visits" jsonschema:"minimum=1" jsonschema_description:"B of resample visits. The default is a choice of ours, made on development tasks (docs/studies/families.md, Defaults of learners) for boss; for psrl a choice of ours."`
	Samples   int     `json:"samples" jsonschema:"minimum=1" jsonschema_description:"K, the number of models drawn together. If there are several, merge says how they are used. Default: 1, as in Strens (2000); for boss 5, a choice of ours."`
	Merge     string  `json:"merge,omitempty" when:"samples!=1" jsonschema:"enum=best,enum=actions" jsonschema_description:"How several models are merged. best: the one with the largest optimal value in the present state (with criterion average: the largest gain). actions: one model in which every action of every model may be chosen in every state (BOSS; Asmuth et al. 2009). Default: best, a choice of ours; for boss actions, as in its paper."`
	Prior
}

// PSRL returns posterior sampling (Strens 2000; Osband, Russo & Van Roy 2013) as a
// plugin: draw a model of the task from the posterior, follow its optimal policy for an
// episode, repeat. Rows of transition probabilities are independent Dirichlet, mean
// rewards of pairs independent normal with normal noise of known precision. It assumes
// that observations are Markov states, and that termination is a property of the entered
// state. A state in which an episode ended has value 0 until an action is taken in it. A
// truncated step teaches like any other.
func PSRL() vector.Plugin {
	return psrlPlugin("rlrun/psrl@1",
		"Posterior sampling for reinforcement learning (Strens 2000; Osband et al. 2013): follow the best policy of a model drawn from the posterior, or of the best of several.",
		defaultPSRL())
}

// BOSS returns best of sampled set (Asmuth et al. 2009) as a plugin. It is PSRL
// that draws several models together, and in every state chooses among the
// actions of all models. It draws anew when a pair has been visited often
// enough to be known.
func BOSS() vector.Plugin {
	p := defaultPSRL()
	p.Resample, p.Visits, p.Samples, p.Merge, p.Tau = "visits", 20, 5, "actions", 1
	return psrlPlugin("rlrun/boss@1",
		"BOSS (Asmuth et al. 2009): posterior sampling that is optimistic over a set of models, merged into one.", p)
}

func defaultPSRL() psrlParams {
	return psrlParams{Criterion: "discounted", Gamma: 0.99, Resample: "doubling", Visits: 100, Samples: 1, Merge: "best", Prior: Prior{Alpha: 0.03, Tau0: 1, Tau: 100}}
}

func psrlPlugin(id, doc string, defaults psrlParams) vector.Plugin {
	return modelbased.Plugin(id, doc, defaults, func(p psrlParams, t finite.Task) (func() modelbased.Design, error) {
		return func() modelbased.Design {
			trigger := modelbased.Trigger{Episode: p.Horizon > 0 || p.Resample != "visits", Horizon: p.Horizon}
			switch {
			case p.Horizon > 0:
			case p.Resample == "geometric":
				trigger.Geometric, trigger.Discount = true, p.Gamma
			case p.Resample == "visits":
				trigger.Visits = float64(p.Visits)
			default:
				trigger.Growth = 1
			}
			m := &posterior{prior: &p.Prior, merge: p.Merge == "actions", samples: make([]*mdp.Tabular, p.Samples), marked: make([]*mdp.Tabular, p.Samples)}
			c := modelbased.Criterion{Horizon: p.Horizon, Average: p.Criterion == "average", Gamma: p.Gamma}
			plan := &modelbased.Solver{Models: m, Criterion: c}
			if c.Average {
				plan.Method = mdp.PolicyIteration
			}
			return modelbased.Design{Construction: m, Planner: plan, Trigger: trigger, Criterion: c, IgnoreLast: p.IgnoreLast}
		}, p.check(t)
	})
}

func (p *psrlParams) check(t finite.Task) error {
	if err := checkSuccessors(t, p.Samples); err != nil || p.Horizon > 0 || p.Criterion != "average" {
		return err
	}
	if !t.Spec.Continuing {
		return lanes.Unsupported("the average criterion is for tasks that continue; the episodes of %s end", t.Spec.ID)
	}
	return checkAverage(t)
}

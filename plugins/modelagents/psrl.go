package modelagents

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// psrlParams are the parameters of posterior sampling.
type psrlParams struct {
	Horizon   int     `json:"horizon" jsonschema:"minimum=0" jsonschema_description:"Steps to plan for, with a policy that depends on the steps left (Osband, Russo & Van Roy 2013): for episodic tasks, the length of an episode. Where one is longer, or never ends, a model is drawn every so many steps. 0, the default, is a stationary policy, under criterion and resample: a choice of ours, as it asks for no such length."`
	Criterion string  `json:"criterion,omitempty" jsonschema:"enum=discounted,enum=average" jsonschema_description:"Of a stationary policy. discounted: by gamma; default as in Strens (2000) and Asmuth et al. (2009). average: reward per step, for tasks that continue (Ouyang et al. 2017)."`
	Gamma     float64 `json:"gamma" jsonschema:"minimum=0,exclusiveMaximum=1" jsonschema_description:"Discount of criterion discounted and rate of resample geometric; the default is a choice of ours."`
	Resample  string  `json:"resample,omitempty" jsonschema:"enum=doubling,enum=geometric,enum=visits" jsonschema_description:"When a model is drawn for a stationary policy. doubling: at the start of an episode and when the visits to some pair have doubled since (Ouyang et al. 2017, the second criterion). geometric: at the start of an episode and after every step with probability 1-gamma (Xu, Dong & Van Roy 2024). visits: at the start of a run and when some pair has been visited visits times, whatever the episodes (Asmuth et al. 2009). Default: doubling, a choice of ours, and of boss visits, as in its paper."`
	Visits    int     `json:"visits" jsonschema:"minimum=1" jsonschema_description:"B of resample visits; the default is a choice of ours."`
	Samples   int     `json:"samples" jsonschema:"minimum=1" jsonschema_description:"K, models drawn at a time; with more than one, merge says what becomes of them. Default: 1, as in Strens (2000), and of boss 5, a choice of ours."`
	Merge     string  `json:"merge,omitempty" jsonschema:"enum=best,enum=actions" jsonschema_description:"Of several models. best: the one whose optimal value is largest in the present state (of criterion average, whose gain is). actions: one model in which every action of every model may be chosen in every state (BOSS; Asmuth et al. 2009). Default: best, a choice of ours, and of boss actions, as in its paper."`
	Alpha     float64 `json:"alpha" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Prior Dirichlet parameter of each successor; default of Osband's TabulaRL. 1 over the number of states is better where few of many are reached in a step."`
	Mu0       float64 `json:"mu0" jsonschema_description:"Prior mean of a mean reward; default of TabulaRL. With a high one, what is unknown is attractive."`
	Tau0      float64 `json:"tau0" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Prior precision of a mean reward; default of TabulaRL."`
	Tau       float64 `json:"tau" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Precision of rewards around their mean, taken for known; default of TabulaRL. Larger rewards want a smaller one; where rewards have little noise, a larger one learns faster, much so in tasks that pay once an episode."`
	// IgnoreLast is for the comparison with TabulaRL.
	IgnoreLast bool `json:"ignore_last" jsonschema_description:"Do not learn where the last step of a truncated episode led, but only what it paid, as TabulaRL does. By default it teaches like any other, a choice of ours."`
}

// maxAverage is up to how many states policy iteration takes.
const maxAverage = 2000

// PSRL returns posterior sampling (Strens 2000; Osband, Russo & Van Roy 2013) as a
// plugin: draw a model of the task from the posterior, follow its optimal policy
// for an episode, repeat. Rows of transition probabilities are independent
// Dirichlet, mean rewards of pairs independent normal with normal noise of known
// precision. It assumes that observations are Markov states, and that termination
// is a property of the state entered: a state in which an episode ended is worth
// nothing until an action is taken in it. A truncated step teaches like any other.
func PSRL() vector.Plugin {
	return psrlPlugin("rlrun/psrl@1",
		"Posterior sampling for reinforcement learning (Strens 2000; Osband et al. 2013): follow the best policy of a model drawn from the posterior, or of the best of several.",
		defaultPSRL())
}

// BOSS returns best of sampled set (Asmuth et al. 2009) as a plugin: PSRL that
// draws several models at a time and chooses, in every state, among the actions of
// all. It draws anew when a pair has been visited often enough to be known.
func BOSS() vector.Plugin {
	p := defaultPSRL()
	p.Resample, p.Samples, p.Merge = "visits", 5, "actions"
	return psrlPlugin("rlrun/boss@1",
		"BOSS (Asmuth et al. 2009): posterior sampling that is optimistic over a set of models, merged into one.", p)
}

func defaultPSRL() psrlParams {
	return psrlParams{Criterion: "discounted", Gamma: 0.99, Resample: "doubling", Visits: 100, Samples: 1, Merge: "best", Alpha: 1, Tau0: 1, Tau: 1}
}

func psrlPlugin(id, doc string, defaults psrlParams) vector.Plugin {
	return finite.Plugin(id, doc, defaults, func(p psrlParams, t finite.Task) (func() finite.Learner, error) {
		if err := p.check(t); err != nil {
			return nil, err
		}
		return func() finite.Learner {
			x := &psrl{p: &p, t: t, fresh: newTries(t.States * t.Actions), endings: newEndings(t.States), finite: new(mdp.FiniteSolver), kept: new(mdp.FiniteSolver)}
			x.models, x.drawn = make([]*mdp.Tabular, p.Samples), make([]mdp.Model, p.Samples)
			x.rng = rand.New(&x.pcg)
			return x
		}, nil
	})
}

func (p *psrlParams) check(t finite.Task) error {
	switch {
	case p.Horizon < 0:
		return lanes.Invalid("horizon is %d, must not be negative", p.Horizon)
	case p.Criterion != "discounted" && p.Criterion != "average":
		return lanes.Invalid("criterion is %q, must be discounted or average", p.Criterion)
	case !(p.Gamma >= 0 && p.Gamma < 1):
		return lanes.Invalid("gamma is %v, must be in [0,1)", p.Gamma)
	case p.Resample != "doubling" && p.Resample != "geometric" && p.Resample != "visits":
		return lanes.Invalid("resample is %q, must be doubling, geometric or visits", p.Resample)
	case p.Visits < 1:
		return lanes.Invalid("visits is %d, must be at least 1", p.Visits)
	case p.Samples < 1:
		return lanes.Invalid("samples is %d, must be at least 1", p.Samples)
	case p.Merge != "best" && p.Merge != "actions":
		return lanes.Invalid("merge is %q, must be best or actions", p.Merge)
	}
	if err := checkPrior(p.Alpha, p.Tau0, p.Tau); err != nil {
		return err
	}
	if err := checkSuccessors(finite.Task{States: t.States, Actions: t.Actions * min(p.Samples, maxSuccessors), Spec: t.Spec}); err != nil {
		return err
	}
	if p.Horizon == 0 && p.Criterion == "average" {
		if !t.Spec.Continuing {
			return lanes.Unsupported("the average criterion is for tasks that continue; the episodes of %s end", t.Spec.ID)
		}
		if t.States > maxAverage {
			return lanes.Unsupported("the average criterion is for up to %d states; %s has %d", maxAverage, t.Spec.ID, t.States)
		}
	}
	return nil
}

type psrl struct {
	endings
	p       *psrlParams
	t       finite.Task
	pcg     rand.PCG
	rng     *rand.Rand // over pcg
	belief  *mdp.Dirichlet
	models  []*mdp.Tabular `snapshot:"-"` // the last samples, whose memory is used again
	drawn   []mdp.Model    `snapshot:"-"` // the same, with terminal states
	average mdp.AverageSolver
	finite  *mdp.FiniteSolver   `snapshot:"-"` // of the next plan
	kept    *mdp.FiniteSolver   // of the present one, whose memory that is
	plan    []mdp.Deterministic // by steps to go, or a stationary policy alone; of merged models actions are a+kA
	left    int                 // steps that the plan is still good for, with a horizon
	value   []float64           // of the last discounted plan: where the next starts
	fresh   tries               // since the last sample
	state   int                 // of the last action
	action  int
}

func (x *psrl) Start(s uint64) {
	x.pcg.Seed(s, uint64(seed.Exploration))
	x.belief = newBelief(x.t, x.p.Alpha, normalReward{x.p.Mu0, x.p.Tau0, x.p.Tau})
	x.average, x.plan, x.value = mdp.AverageSolver{}, nil, nil
	x.fresh.begin()
	x.forget()
}

func (x *psrl) Begin(s int) int {
	x.fresh.due = x.fresh.due || x.p.Horizon > 0 || x.p.Resample != "visits"
	return x.Act(s)
}

func (x *psrl) Step(r float64, next int) int {
	x.learn(r, next)
	return x.Act(next)
}

func (x *psrl) End(r float64, next int, terminated bool) {
	if terminated || !x.p.IgnoreLast {
		x.learn(r, next)
	} else {
		x.belief.UpdateReward(x.state, x.action, r)
	}
	if terminated {
		x.mark(next)
	}
}

func (x *psrl) learn(r float64, next int) {
	x.belief.Update(x.state, x.action, r, next)
	if x.p.Horizon > 0 {
		return
	}
	switch x.p.Resample {
	case "geometric":
		x.fresh.due = x.fresh.due || x.rng.Float64() >= x.p.Gamma
		return
	case "visits":
		x.fresh.due = x.fresh.due || x.belief.N(x.state, x.action) == float64(x.p.Visits)
		return
	}
	x.fresh.add(x.state*x.t.Actions+x.action, x.belief.N(x.state, x.action), 1)
}

func (x *psrl) Act(s int) int {
	x.unmark(s)
	if x.fresh.due || x.p.Horizon > 0 && x.left == 0 {
		x.sample(s)
	}
	x.state, x.action = s, x.plan[x.left][s]%x.t.Actions
	if x.p.Horizon > 0 {
		x.left--
	}
	return x.action
}

// sample draws models and plans for them in state s.
func (x *psrl) sample(s int) {
	x.fresh.clear()
	for k := range x.models {
		x.models[k] = x.belief.SampleInto(x.models[k], x.rng)
		x.drawn[k] = x.models[k]
		if x.ends > 0 {
			x.drawn[k] = ending{x.models[k], x.terminal}
		}
	}
	x.left = x.p.Horizon
	if x.p.Merge == "actions" && len(x.drawn) > 1 {
		x.solve(merged(x.drawn), s, math.Inf(-1))
		return
	}
	best := math.Inf(-1)
	for _, m := range x.drawn {
		best = x.solve(m, s, best)
	}
}

// solve plans for a model and, if its value in state s is above best, follows the
// plan; it returns the larger of the two. The solvers fail on arguments that check
// excludes. Where they stop early, the best policy so far is taken.
func (x *psrl) solve(m mdp.Model, s int, best float64) float64 {
	switch {
	case x.p.Horizon > 0:
		if sol, err := x.finite.Solve(m, x.p.Horizon); err == nil && sol.Value[x.p.Horizon][s] > best {
			x.plan, best = sol.Policy, sol.Value[x.p.Horizon][s]
			x.finite, x.kept = x.kept, x.finite
		}
	case x.p.Criterion == "average":
		if sol, _ := x.average.Solve(m, mdp.Options{Method: mdp.PolicyIteration}); sol != nil && sol.Gain[s] > best {
			x.plan, best = []mdp.Deterministic{slices.Clone(sol.Policy)}, sol.Gain[s]
		}
	default:
		o := mdp.Options{Value: x.value}
		if x.plan != nil {
			o.Policy = x.plan[0]
		}
		if sol, _ := mdp.SolveDiscounted(m, x.p.Gamma, o); sol != nil && sol.Value[s] > best {
			x.plan, x.value, best = []mdp.Deterministic{sol.Policy}, sol.Value, sol.Value[s]
		}
	}
	return best
}

// merged are models of one task as one, in which action a+kA is action a as model
// k has it.
type merged []mdp.Model

func (m merged) NumStates() int { return m[0].NumStates() }

func (m merged) NumActions() int { return len(m) * m[0].NumActions() }

func (m merged) Transition(s, a int) ([]int32, []float64) {
	n := m[0].NumActions()
	return m[a/n].Transition(s, a%n)
}

func (m merged) Reward(s, a int) float64 {
	n := m[0].NumActions()
	return m[a/n].Reward(s, a%n)
}

// ending is a model whose terminal states are never left and pay nothing.
type ending struct {
	*mdp.Tabular
	terminal []bool
}

func (e ending) Transition(s, a int) ([]int32, []float64) {
	if e.terminal[s] {
		return []int32{int32(s)}, []float64{1}
	}
	return e.Tabular.Transition(s, a)
}

func (e ending) Reward(s, a int) float64 {
	if e.terminal[s] {
		return 0
	}
	return e.Tabular.Reward(s, a)
}

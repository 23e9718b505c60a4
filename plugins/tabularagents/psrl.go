package tabularagents

import (
	"fmt"
	"math/rand/v2"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/mdp"
)

// psrlParams are the parameters of posterior sampling.
type psrlParams struct {
	Horizon   int     `json:"horizon" jsonschema:"minimum=0" jsonschema_description:"Steps to plan for, with a policy that depends on the steps left (Osband, Russo & Van Roy 2013): for episodic tasks, the length of an episode. Where one is longer, or never ends, a model is drawn every so many steps. 0 is a stationary policy, under criterion and resample."`
	Criterion string  `json:"criterion,omitempty" jsonschema:"enum=discounted,enum=average" jsonschema_description:"Of a stationary policy. discounted: by gamma (Strens 2000). average: reward per step, for tasks that continue (Ouyang et al. 2017)."`
	Gamma     float64 `json:"gamma" jsonschema:"minimum=0,exclusiveMaximum=1" jsonschema_description:"Discount of criterion discounted and rate of resample geometric; the default is a choice of ours."`
	Resample  string  `json:"resample,omitempty" jsonschema:"enum=doubling,enum=geometric" jsonschema_description:"When a model is drawn for a stationary policy, besides at the start of an episode. doubling: when the visits to some pair have doubled since (Ouyang et al. 2017, the second criterion). geometric: after every step with probability 1-gamma (Xu, Dong & Van Roy 2024)."`
	Alpha     float64 `json:"alpha" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Prior Dirichlet parameter of each successor; default of Osband's TabulaRL. 1 over the number of states is better where few of many are reached in a step."`
	Mu0       float64 `json:"mu0" jsonschema_description:"Prior mean of a mean reward; default of TabulaRL. With a high one, what is unknown is attractive."`
	Tau0      float64 `json:"tau0" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Prior precision of a mean reward; default of TabulaRL."`
	Tau       float64 `json:"tau" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Precision of rewards around their mean, taken for known; default of TabulaRL. Larger rewards want a smaller one; where rewards have little noise, a larger one learns faster, much so in tasks that pay once an episode."`
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
func PSRL() framework.Plugin {
	return plugin("rlrun/psrl@1",
		"Posterior sampling for reinforcement learning (Strens 2000; Osband et al. 2013): follow the best policy of a model drawn from the posterior.",
		psrlParams{Criterion: "discounted", Gamma: 0.99, Resample: "doubling", Alpha: 1, Tau0: 1, Tau: 1},
		func(p psrlParams, t task) (func() learner, error) {
			if err := p.check(t); err != nil {
				return nil, err
			}
			return func() learner {
				x := &psrl{p: &p, t: t, fresh: make([]float64, t.states*t.actions), endings: newEndings(t.states)}
				x.rng = rand.New(&x.pcg)
				return x
			}, nil
		})
}

func (p *psrlParams) check(t task) error {
	switch {
	case p.Horizon < 0:
		return invalid("horizon is %d, must not be negative", p.Horizon)
	case p.Criterion != "discounted" && p.Criterion != "average":
		return invalid("criterion is %q, must be discounted or average", p.Criterion)
	case !(p.Gamma >= 0 && p.Gamma < 1):
		return invalid("gamma is %v, must be in [0,1)", p.Gamma)
	case p.Resample != "doubling" && p.Resample != "geometric":
		return invalid("resample is %q, must be doubling or geometric", p.Resample)
	}
	if err := checkPrior(p.Alpha, p.Tau0, p.Tau); err != nil {
		return err
	}
	if err := checkSuccessors(t); err != nil {
		return err
	}
	if p.Horizon == 0 && p.Criterion == "average" {
		if !t.spec.Continuing {
			return fmt.Errorf("the average criterion is for tasks that continue; the episodes of %s end: %w", t.spec.ID, framework.ErrUnsupported)
		}
		if t.states > maxAverage {
			return fmt.Errorf("the average criterion is for up to %d states; %s has %d: %w", maxAverage, t.spec.ID, t.states, framework.ErrUnsupported)
		}
	}
	return nil
}

type psrl struct {
	endings
	p       *psrlParams
	t       task
	pcg     rand.PCG
	rng     *rand.Rand // over pcg
	belief  *mdp.Dirichlet
	model   *mdp.Tabular // the last sample
	average mdp.AverageSolver
	plan    []mdp.Deterministic // by steps to go, or a stationary policy alone
	left    int                 // steps that the plan is still good for, with a horizon
	value   []float64           // of the last discounted plan: where the next starts
	fresh   []float64           // visits to each pair since the last sample
	due     bool                // for a sample
	state   int                 // of the last action
	action  int
}

func (x *psrl) start(s uint64) {
	x.pcg.Seed(s, uint64(seed.Exploration))
	x.belief = newBelief(x.t, x.p.Alpha, normalReward{x.p.Mu0, x.p.Tau0, x.p.Tau})
	x.average, x.plan, x.value = mdp.AverageSolver{}, nil, nil
	x.forget()
}

func (x *psrl) begin(s int) int {
	x.due = true
	return x.act(s)
}

func (x *psrl) step(r float64, next int) int {
	x.learn(r, next)
	return x.act(next)
}

func (x *psrl) end(r float64, next int, terminated bool) {
	x.learn(r, next)
	if terminated {
		x.mark(next)
	}
}

func (x *psrl) learn(r float64, next int) {
	x.belief.Update(x.state, x.action, r, next)
	if x.p.Horizon > 0 {
		return
	}
	if x.p.Resample == "geometric" {
		x.due = x.due || x.rng.Float64() >= x.p.Gamma
		return
	}
	i := x.state*x.t.actions + x.action
	x.fresh[i]++
	before := x.belief.N(x.state, x.action) - x.fresh[i]
	x.due = x.due || x.fresh[i] >= max(1, before)
}

func (x *psrl) act(s int) int {
	x.unmark(s)
	if x.due || x.p.Horizon > 0 && x.left == 0 {
		x.sample()
	}
	x.state = s
	if x.p.Horizon > 0 {
		x.action = x.plan[x.left][s]
		x.left--
	} else {
		x.action = x.plan[0][s]
	}
	return x.action
}

// sample draws a model and plans for it.
func (x *psrl) sample() {
	x.due = false
	clear(x.fresh)
	x.model = x.belief.SampleInto(x.model, x.rng)
	var m mdp.Model = x.model
	if x.ends > 0 {
		m = ending{x.model, x.terminal}
	}
	// The solvers fail on arguments that check excludes. Where they stop early, the
	// best policy so far is followed.
	switch {
	case x.p.Horizon > 0:
		if s, err := mdp.SolveFinite(m, x.p.Horizon); err == nil {
			x.plan = s.Policy
		}
		x.left = x.p.Horizon
	case x.p.Criterion == "average":
		if s, _ := x.average.Solve(m, mdp.Options{Method: mdp.PolicyIteration}); s != nil {
			x.plan = []mdp.Deterministic{s.Policy}
		}
	default:
		o := mdp.Options{Value: x.value}
		if x.plan != nil {
			o.Policy = x.plan[0]
		}
		if s, _ := mdp.SolveDiscounted(m, x.p.Gamma, o); s != nil {
			x.plan, x.value = []mdp.Deterministic{s.Policy}, s.Value
		}
	}
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

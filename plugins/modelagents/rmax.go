package modelagents

import (
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/internal/argmax"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// rmaxParams are the parameters of R-MAX.
type rmaxParams struct {
	M       int     `json:"m" jsonschema:"minimum=1" jsonschema_description:"Visits after which a pair of state and action is known. The theory asks for numbers far too large in practice (K1 of Brafman & Tennenholtz 2002); the default is a choice of ours. Deterministic tasks need 1."`
	Horizon int     `json:"horizon" jsonschema:"minimum=0" jsonschema_description:"T: follow the best policy for T steps, then plan for T more (Brafman & Tennenholtz 2002). 0: the best discounted policy (Kakade 2003); default as in Strehl, Li & Littman (2009)."`
	Gamma   float64 `json:"gamma" jsonschema:"minimum=0,exclusiveMaximum=1" jsonschema_description:"Discount, with a horizon of 0; the default is a choice of ours."`
	Refine  bool    `json:"refine" jsonschema_description:"Go on learning about known pairs, planning anew when the visits to one have doubled. By default a known pair stays as its first m visits showed it, as in the paper."`
	Bounds
}

// RMAX returns R-MAX (Brafman & Tennenholtz 2002) as a plugin: the best policy of a
// model in which what is known leads where it was seen to lead, and all else to
// where every step pays the largest reward (nothing in tasks that end and whose
// rewards are all losses). It plans when a pair becomes known, from the last solution
// on. It assumes that observations are Markov states, that the largest reward is
// known, and of termination what PSRL does. A truncated step teaches like any other.
func RMAX() vector.Plugin {
	return finite.Plugin("rlrun/r-max@1",
		"R-MAX (Brafman & Tennenholtz 2002): the best policy of a model in which all that is not known pays the largest reward for ever.",
		rmaxParams{M: 15, Gamma: 0.99},
		func(p rmaxParams, t finite.Task) (func() finite.Learner, error) {
			switch {
			case p.M < 1:
				return nil, lanes.Invalid("m is %d, must be at least 1", p.M)
			case p.Horizon < 0:
				return nil, lanes.Invalid("horizon is %d, must not be negative", p.Horizon)
			}
			if err := checkDiscount(p.Gamma); err != nil {
				return nil, err
			}
			if err := checkHorizon(p.Horizon, t); err != nil {
				return nil, err
			}
			_, high, err := p.Bounds.of(t)
			if err != nil {
				return nil, err
			}
			return func() finite.Learner {
				x := &rmax{p: &p, high: high}
				x.init(t)
				x.known, x.fresh = make([]bool, t.States*t.Actions), make([]float64, t.States*t.Actions)
				x.q = make([]float64, t.Actions)
				return x
			}, nil
		})
}

type rmax struct {
	counting
	p     *rmaxParams
	high  float64 // the largest reward
	model *partial
	known []bool      // pairs
	fresh []float64   // visits to each pair since the last plan
	due   bool        // for a plan
	plans int         // made in this run
	value [][]float64 // by steps to go, or of the discounted criterion alone
	left  int         // steps that the plan is still good for, with a horizon
	q     []float64   // of the present state
}

func (x *rmax) Start(s uint64) {
	x.start(s)
	clear(x.known)
	clear(x.fresh)
	x.model = &partial{counts: x.counts, known: x.known, terminal: x.terminal, outside: x.high, forever: x.high,
		reward: func(s, a int) float64 { return x.counts.Rewards(s, a).Mean }}
	if x.high < 0 && !x.t.Spec.Continuing {
		x.model.forever = 0 // as largestReturn has it
	}
	x.value = nil
	x.due, x.plans = true, 0
}

func (x *rmax) Begin(s int) int {
	x.left = 0
	return x.Act(s)
}

func (x *rmax) Step(r float64, next int) int {
	x.learn(r, next)
	return x.Act(next)
}

func (x *rmax) End(r float64, next int, terminated bool) {
	if terminated && x.mark(next) {
		x.due = true
	}
	x.learn(r, next)
}

func (x *rmax) learn(r float64, next int) {
	i := x.state*x.t.Actions + x.action
	if x.known[i] && !x.p.Refine {
		return
	}
	x.counts.Update(x.state, x.action, r, next)
	x.fresh[i]++
	switch n := x.counts.N(x.state, x.action); {
	case !x.known[i]:
		x.known[i] = n >= float64(x.p.M)
		x.due = x.due || x.known[i]
	case 2*x.fresh[i] >= n:
		x.due = true
	}
}

func (x *rmax) Act(s int) int {
	if x.unmark(s) {
		x.due = true
	}
	if x.due {
		x.plan()
	}
	value, gamma := x.value[0], x.p.Gamma
	if x.p.Horizon > 0 {
		if x.left == 0 {
			x.left = x.p.Horizon
		}
		x.left--
		value, gamma = x.value[x.left], 1
	}
	for a := range x.q {
		next, prob := x.model.Transition(s, a)
		v := 0.0
		for k, u := range next {
			v += prob[k] * value[u]
		}
		x.q[a] = x.model.Reward(s, a) + gamma*v
	}
	x.state, x.action = s, argmax.Any(x.q, x.rng)
	return x.action
}

// plan solves the model. The solvers fail on arguments that are excluded. Where
// they stop early, the best values so far are used.
func (x *rmax) plan() {
	x.due, x.left = false, 0
	x.plans++
	clear(x.fresh)
	if x.p.Horizon > 0 {
		if s, err := mdp.SolveFinite(x.model, x.p.Horizon); err == nil {
			x.value = s.Value
		}
		return
	}
	o := mdp.Options{Method: mdp.ModifiedPolicyIteration}
	if x.value != nil {
		o.Value = x.value[0]
	}
	if s, _ := mdp.SolveDiscounted(x.model, x.p.Gamma, o); s != nil {
		x.value = [][]float64{s.Value}
	}
}

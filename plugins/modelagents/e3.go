package modelagents

import (
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/internal/argmax"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// e3Params are the parameters of E³.
type e3Params struct {
	M       int     `json:"m" jsonschema:"minimum=1" jsonschema_description:"A state is known when each of its actions was taken so often. The theory asks for numbers far too large in practice (m_known of Kearns & Singh 2002); the default is a choice of ours. Deterministic tasks need 1."`
	Horizon int     `json:"horizon" jsonschema:"minimum=1" jsonschema_description:"T: steps for which to explore or exploit before deciding again, in the paper the mixing time of the policies to compete with; the default is a choice of ours."`
	Gamma   float64 `json:"gamma" jsonschema:"minimum=0,maximum=1" jsonschema_description:"Of exploiting. 1: the policy that earns most in the steps left, as in the paper's undiscounted case. Below: the best discounted policy, which hurries to where an episode ends and does not slacken towards the end of the T steps; the default is a choice of ours."`
	Escape  float64 `json:"escape" jsonschema:"exclusiveMinimum=0,maximum=1" jsonschema_description:"Chance of reaching an unknown state within T steps from which on it explores: ε over twice the largest return of T steps, relative to T, in the paper, ε being how far from the best its return may stay; the default is that of an ε of 0.1, a choice of ours, and rewards up to 1."`
	Bounds
}

// E3 returns E³, explicit explore or exploit (Kearns & Singh 2002), as a plugin. In
// states that are not known it takes the action taken least often there: balanced
// wandering. In known ones it holds, for T steps or until an unknown state is
// entered, one of two policies: if an unknown state can be reached in that time with
// a chance of at least escape, the one that makes that chance largest, else the one
// that is best in the model of the known states, outside of which every step pays
// the smallest reward. By the paper's explore-or-exploit lemma the
// second is then nearly best; so the form implemented is the one that need not know
// the optimal return.
//
// Plans are made when a state becomes known or the visits to a pair of known states
// have doubled (the latter is ours). E³ assumes that observations are Markov states,
// that rewards are bounded, and of termination what PSRL does. A truncated step
// teaches like any other.
func E3() vector.Plugin {
	return finite.Plugin("rlrun/e3@1",
		"E³ (Kearns & Singh 2002): escape to unknown states if there is a chance to, else exploit what is known.",
		e3Params{M: 15, Horizon: 20, Gamma: 0.99, Escape: 0.05},
		func(p e3Params, t finite.Task) (func() finite.Learner, error) {
			switch {
			case p.M < 1:
				return nil, lanes.Invalid("m is %d, must be at least 1", p.M)
			case p.Horizon < 1:
				return nil, lanes.Invalid("horizon is %d, must be at least 1", p.Horizon)
			case !(p.Gamma >= 0 && p.Gamma <= 1):
				return nil, lanes.Invalid("gamma is %v, must be in [0,1]", p.Gamma)
			case !(p.Escape > 0 && p.Escape <= 1):
				return nil, lanes.Invalid("escape is %v, must be in (0,1]", p.Escape)
			}
			if err := checkHorizon(p.Horizon, t); err != nil {
				return nil, err
			}
			low, _, err := p.Bounds.of(t)
			if err != nil {
				return nil, err
			}
			return func() finite.Learner {
				x := &e3{p: &p, low: low}
				x.init(t)
				x.states, x.known = make([]bool, t.States), make([]bool, t.States*t.Actions)
				x.fresh, x.tried = make([]float64, t.States*t.Actions), make([]float64, t.Actions)
				return x
			}, nil
		})
}

type e3 struct {
	counting
	p         *e3Params
	low       float64   // the smallest reward
	states    []bool    // that are known
	known     []bool    // the pairs of known states
	fresh     []float64 // visits to each pair since the last plan
	due       bool      // for a plan
	plans     int       // made in this run
	escape    *mdp.FiniteSolution
	profit    []mdp.Deterministic // what earns most, by steps to go; one policy with a discount
	value     []float64           // of that one: where the next plan starts
	exploring bool
	left      int       // steps to go on with that
	tried     []float64 // less how often each action of the present state was
}

func (x *e3) Start(s uint64) {
	x.start(s)
	clear(x.states)
	clear(x.known)
	clear(x.fresh)
	x.profit, x.value = nil, nil
	x.due, x.plans = true, 0
}

func (x *e3) Begin(s int) int {
	x.left = 0
	return x.Act(s)
}

func (x *e3) Step(r float64, next int) int {
	x.learn(r, next)
	return x.Act(next)
}

func (x *e3) End(r float64, next int, terminated bool) {
	if terminated && x.mark(next) {
		x.due = true
	}
	x.learn(r, next)
}

func (x *e3) learn(r float64, next int) {
	s, n := x.state, x.t.Actions
	x.counts.Update(s, x.action, r, next)
	i := s*n + x.action
	x.fresh[i]++
	if x.states[s] {
		x.due = x.due || 2*x.fresh[i] >= x.counts.N(s, x.action)
		return
	}
	for a := range n {
		if x.counts.N(s, a) < float64(x.p.M) {
			return
		}
	}
	x.states[s], x.due = true, true
	for a := range n {
		x.known[s*n+a] = true
	}
}

func (x *e3) Act(s int) int {
	if x.unmark(s) {
		x.due = true
	}
	x.state = s
	if !x.states[s] {
		x.left = 0
		for a := range x.tried {
			x.tried[a] = -x.counts.N(s, a)
		}
		x.action = argmax.Any(x.tried, x.rng)
		return x.action
	}
	if x.left == 0 {
		x.decide(s)
	}
	switch {
	case x.exploring:
		x.action = x.escape.Policy[x.left][s]
	case x.p.Gamma < 1:
		x.action = x.profit[0][s]
	default:
		x.action = x.profit[x.left][s]
	}
	x.left--
	return x.action
}

// decide chooses what to do for the next T steps from a known state.
func (x *e3) decide(s int) {
	if x.due {
		x.plan()
	}
	x.left = x.p.Horizon
	x.exploring = x.escape.Value[x.left][s] >= x.p.Escape
}

// plan solves the model of the known states twice: for the chance to leave them,
// which is the expected number of entries to unknown states if one is all there
// can be, and for the reward within. The solvers fail on arguments that are
// excluded. Where they stop early, the best policy so far is followed.
func (x *e3) plan() {
	x.due = false
	x.plans++
	clear(x.fresh)
	m := &partial{counts: x.counts, known: x.known, terminal: x.terminal}
	m.reward = func(s, a int) float64 {
		next, count := x.counts.Row(s, a)
		leaves := 0.0
		for k, u := range next {
			if !x.states[u] && !x.terminal[u] {
				leaves += count[k]
			}
		}
		return leaves / x.counts.N(s, a)
	}
	x.escape, _ = mdp.SolveFinite(m, x.p.Horizon)
	m.reward = func(s, a int) float64 { return x.counts.Rewards(s, a).Mean }
	m.outside, m.forever = x.low, x.low
	if x.low > 0 && !x.t.Spec.Continuing {
		m.forever = 0 // at worst the episode ends
	}
	if x.p.Gamma == 1 {
		if s, err := mdp.SolveFinite(m, x.p.Horizon); err == nil {
			x.profit = s.Policy
		}
		return
	}
	if s, _ := mdp.SolveDiscounted(m, x.p.Gamma, mdp.Options{Method: mdp.ModifiedPolicyIteration, Value: x.value}); s != nil {
		x.profit, x.value = []mdp.Deterministic{s.Policy}, s.Value
	}
}

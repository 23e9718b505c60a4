package linearagents

import (
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/plugins/internal/argmax"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// sarsaParams are the parameters of semi-gradient SARSA(λ).
type sarsaParams struct {
	Features Features `json:"features" jsonschema_description:"How observations are coded."`
	Gamma    float64  `json:"gamma" jsonschema:"minimum=0,maximum=1" jsonschema_description:"Discount of the agent's own criterion; default of Sutton & Barto (2018, §10.1). 1 is for episodic tasks only."`
	Step     float64  `json:"step" jsonschema:"exclusiveMinimum=0,maximum=2" jsonschema_description:"Step size: the share of an error that a step removes. It is the number of tilings times the α of a weight; default of Sutton & Barto (2018, Figure 10.3)."`
	Lambda   float64  `json:"lambda" when:"gamma!=0" jsonschema:"minimum=0,maximum=1" jsonschema_description:"How slowly a step's share of later errors falls: 0 is one-step SARSA; default of Sutton (1996), where it is best."`
	Traces   string   `json:"traces,omitempty" when:"lambda!=0 and gamma!=0" jsonschema:"enum=replacing,enum=accumulating" jsonschema_description:"Effect of a visit on the traces of its features: set them to 1 or add 1. Default: set them, which Singh & Sutton (1996) find faster and more reliable. Accumulating traces with large steps diverge."`
	Initial  float64  `json:"initial" jsonschema_description:"Initial value of every action everywhere. One that is too high explores, as 0, the default, does in Sutton & Barto (2018, §10.1)."`
	Epsilon  float64  `json:"epsilon" jsonschema:"minimum=0,maximum=1" jsonschema_description:"Probability of a random action; a choice of ours. 0 is greedy, as in Sutton & Barto (2018, §10.1)."`
}

// SARSA returns semi-gradient SARSA(λ) with binary features (Sutton & Barto 2018,
// §10.1 and the box of §12.7) as a plugin. Let δ = r + γ Q(s',a') − Q(s,a), where
// a' is the action selected next. Every weight moves by α δ times its trace, and
// traces fade by γλ. It values the policy that it follows, exploration included.
// The next action is selected before the weights move. At a truncation a' is
// selected, but not taken. Traces below 1e-3 are gone.
func SARSA() vector.Plugin {
	return lanes.Plugin("rlrun/sarsa-linear@1",
		"Semi-gradient SARSA(λ) on tile-coded observations (Sutton & Barto 2018, §10.1, §12.7), ε-greedy.",
		sarsaParams{Features: defaultFeatures(), Gamma: 1, Step: 0.5, Lambda: 0.9, Traces: "replacing", Epsilon: 0.1},
		kind(func(p sarsaParams, t task) (func() learner, error) {
			c, err := p.Features.coder(t)
			if err != nil {
				return nil, err
			}
			return func() learner {
				x := &sarsa{
					sarsaParams: &p, weights: newWeights(c, t.actions, 1), here: newPlace(c), next: newPlace(c),
					q: make([]float64, t.actions), now: make([]float64, 1), move: p.Step / float64(c.Tilings()),
				}
				x.traces = newTraces(&x.weights, p.Gamma*p.Lambda, p.Traces == "replacing", false)
				x.selector.init()
				return x
			}, lanes.CheckDiscount(p.Gamma, t.spec)
		}))
}

type sarsa struct {
	*sarsaParams
	weights    weights
	traces     traces
	selector   selector
	here, next place     // of the last action, and where it led
	last       int       // the last action
	q          []float64 // scratch: values of actions
	now        []float64 // scratch: the value of one
	move       float64   // α
	mask       []bool    `snapshot:"-"` // of the present call; nil without masks
}

// Allow implements lanes.Masked.
func (x *sarsa) Allow(_ []float64, mask []bool) { x.mask = mask }

// look leaves the values in a place in x.q, argmax.Hidden of those that are not allowed.
func (x *sarsa) look(p *place, o []float64) {
	p.set(o)
	x.weights.values(x.q, p)
	argmax.Hide(x.q, x.mask)
}

func (x *sarsa) Start(seed uint64) {
	for i := range x.weights.w {
		x.weights.w[i] = x.Initial / float64(len(x.here.active))
	}
	x.selector.start(seed)
}

func (x *sarsa) Begin(o []float64) int {
	x.traces.end()
	x.look(&x.here, o)
	x.last = x.selector.epsilonGreedy(x.q, x.Epsilon)
	return x.last
}

func (x *sarsa) Act(o []float64) int { return x.Begin(o) }

func (x *sarsa) Step(r float64, o []float64) int {
	a := x.lookahead(o)
	x.learn(r + x.Gamma*x.q[a])
	x.here, x.next, x.last = x.next, x.here, a
	return a
}

// lookahead selects the action to take in o, and leaves the values there in x.q.
func (x *sarsa) lookahead(o []float64) int {
	x.look(&x.next, o)
	return x.selector.epsilonGreedy(x.q, x.Epsilon)
}

func (x *sarsa) End(r float64, o []float64, terminated bool) {
	if !terminated {
		r += x.Gamma * x.q[x.lookahead(o)]
	}
	x.learn(r)
}

func (x *sarsa) learn(target float64) {
	x.weights.value(x.now, &x.here, x.last)
	x.now[0] = x.move * (target - x.now[0])
	x.traces.move(&x.here, x.last, x.now)
}

// GreedyAction implements lanes.Greedy.
func (x *sarsa) GreedyAction(o []float64) int {
	x.look(&x.next, o)
	return argmax.Any(x.q, x.selector.rng)
}

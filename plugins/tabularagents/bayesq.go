package tabularagents

import (
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/plugins/internal/argmax"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// bayesQParams are the parameters of Bayesian Q-learning.
type bayesQParams struct {
	Gamma  float64  `json:"gamma" jsonschema:"minimum=0,maximum=1" jsonschema_description:"Discount of the agent's own criterion; the default is a choice of ours. 1 is for episodic tasks only."`
	Select string   `json:"select,omitempty" jsonschema:"enum=vpi,enum=sampling,enum=greedy" jsonschema_description:"How actions are selected (Dearden, Friedman & Russell 1998). vpi: the largest mean plus myopic value of perfect information. sampling: the largest of a draw from each belief. greedy: the largest mean. Default: vpi, which Dearden et al. (1998) propose."`
	Update string   `json:"update,omitempty" when:"gamma!=0" jsonschema:"enum=mixture,enum=moment" jsonschema_description:"How beliefs learn from the belief about the next state (Dearden, Friedman & Russell 1998). mixture: average the updated beliefs over it, and approximate the average. moment: use the first two moments of the return as if it had been observed; this is fast, and soon overconfident. The default is a choice of ours."`
	Mean   *float64 `json:"mean,omitempty" jsonschema_description:"Prior mean of every value. Default: the middle between the smallest and the largest possible return, which are the bounds on rewards divided by 1-gamma. It is 0 if there are no bounds, or gamma is 1. The default is a choice of ours."`
	SD     *float64 `json:"sd,omitempty" when:"select!=greedy or update=mixture" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Prior standard deviation of a value. Default: half the distance between the smallest and the largest possible return, 1 without bounds; a choice of ours."`
	Lambda float64  `json:"lambda" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Weight of the prior mean, in returns; the default is a choice of ours."`
	Alpha  float64  `json:"alpha" when:"select!=greedy or update=mixture" jsonschema:"exclusiveMinimum=1" jsonschema_description:"Prior shape of the precision of a return around its value; its rate follows from sd. A choice of ours."`
}

// BayesianQ returns Bayesian Q-learning (Dearden, Friedman & Russell 1998) as a
// plugin. The discounted return after action a in state s is assumed to be normal
// with unknown mean μ and precision τ. The belief about them is normal-gamma, and
// the beliefs of different pairs are independent. It assumes that observations are
// Markov states.
func BayesianQ() vector.Plugin {
	return finite.Plugin("rlrun/bayesian-q@1",
		"Bayesian Q-learning (Dearden, Friedman & Russell 1998): beliefs over action values, which select actions by the value of perfect information or by sampling.",
		bayesQParams{Gamma: 0.99, Select: "vpi", Update: "mixture", Lambda: 1, Alpha: 2},
		func(p bayesQParams, t finite.Task) (func() finite.Learner, error) {
			if err := p.check(t); err != nil {
				return nil, err
			}
			return func() finite.Learner {
				x := &bayesQ{p: &p, actions: t.Actions, beliefs: make([]bandit.NormalGamma, t.States*t.Actions), scores: make([]float64, t.Actions)}
				x.rng = rand.New(&x.pcg)
				return x
			}, nil
		})
}

// check validates what the parameters' tags cannot say, and settles the prior.
func (p *bayesQParams) check(t finite.Task) error {
	low, high := t.Spec.RewardLow/(1-p.Gamma), t.Spec.RewardHigh/(1-p.Gamma)
	mean, sd := 0.0, 1.0
	if d := high - low; d > 0 && !math.IsInf(d, 0) {
		mean, sd = low/2+high/2, d/2
	}
	if p.Mean == nil {
		p.Mean = &mean
	}
	if p.SD == nil {
		p.SD = &sd
	}
	return lanes.CheckDiscount(p.Gamma, t.Spec)
}

// prior is the belief about every pair: Var μ = β/(λ(α−1)) is sd².
func (p *bayesQParams) prior() bandit.NormalGamma {
	return bandit.NormalGamma{Mu: *p.Mean, Lambda: p.Lambda, Alpha: p.Alpha, Beta: *p.SD * *p.SD * p.Lambda * (p.Alpha - 1)}
}

type bayesQ struct {
	p       *bayesQParams
	actions int
	beliefs []bandit.NormalGamma // of state s: beliefs[s*actions:(s+1)*actions]
	pcg     rand.PCG
	rng     *rand.Rand // over pcg
	scores  []float64
	last    int // index of the pair of the last action
}

func (x *bayesQ) Start(s uint64) {
	x.pcg.Seed(s, uint64(seed.Exploration))
	prior := x.p.prior()
	for i := range x.beliefs {
		x.beliefs[i] = prior
	}
}

func (x *bayesQ) row(s int) []bandit.NormalGamma {
	return x.beliefs[s*x.actions : (s+1)*x.actions]
}

func (x *bayesQ) Begin(s int) int { return x.Act(s) }

func (x *bayesQ) Act(s int) int {
	row := x.row(s)
	switch x.p.Select {
	case "sampling":
		for a := range row {
			x.scores[a] = row[a].Sample(x.rng)
		}
	case "vpi":
		vpi(x.scores, row)
		for a := range row {
			x.scores[a] += row[a].Mu
		}
	default:
		for a := range row {
			x.scores[a] = row[a].Mu
		}
	}
	a := argmax.Any(x.scores, x.rng)
	x.last = s*x.actions + a
	return a
}

func (x *bayesQ) Step(r float64, next int) int {
	x.learn(r, next)
	return x.Act(next)
}

func (x *bayesQ) End(r float64, next int, terminated bool) {
	if terminated {
		x.beliefs[x.last].Update(r, nil)
		return
	}
	x.learn(r, next)
}

// learn records that the last action was paid r and led to next. It assumes that
// the action of the largest mean follows there.
func (x *bayesQ) learn(r float64, next int) {
	b := &x.beliefs[x.last]
	if x.p.Gamma == 0 {
		b.Update(r, nil)
		return
	}
	row := x.row(next)
	best := 0
	for a := range row {
		if row[a].Mu > row[best].Mu {
			best = a
		}
	}
	if x.p.Update == "moment" {
		*b = momentUpdate(*b, row[best], r, x.p.Gamma)
	} else {
		*b = mixtureUpdate(*b, row[best], r, x.p.Gamma)
	}
}

// vpi writes the myopic value of perfect information about each action (Dearden,
// Friedman & Russell 1998, §4.2). This is the expected gain from learning its value
// exactly: E(μ_a − m)⁺, with m the mean of the best action. For the best action
// itself it is E(m₂ − μ_a)⁺, with m₂ the second best mean.
func vpi(dst []float64, beliefs []bandit.NormalGamma) {
	best, second := 0, -1
	for a := 1; a < len(beliefs); a++ {
		switch m := beliefs[a].Mu; {
		case m > beliefs[best].Mu:
			best, second = a, best
		case second < 0 || m > beliefs[second].Mu:
			second = a
		}
	}
	for a, b := range beliefs {
		switch {
		case a != best:
			dst[a] = b.Gain(beliefs[best].Mu)
		case second < 0:
			dst[a] = 0
		default: // the belief is symmetric about its mean
			dst[a] = b.Gain(2*b.Mu - beliefs[second].Mu)
		}
	}
}

// GreedyAction implements lanes.Greedy.
func (x *bayesQ) GreedyAction(s int) int {
	for a, b := range x.row(s) {
		x.scores[a] = b.Mu
	}
	return argmax.Any(x.scores, x.rng)
}

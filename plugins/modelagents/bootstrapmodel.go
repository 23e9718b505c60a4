package modelagents

import (
	"math"

	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/options"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// bootstrapModelParams are the parameters of learning with several models.
type bootstrapModelParams struct {
	Members int     `json:"members" jsonschema:"minimum=1,maximum=1024" jsonschema_description:"K, the number of models; a choice of ours. Solving takes K times as long."`
	Belief  string  `json:"belief,omitempty" jsonschema:"enum=bootstrap,enum=posterior" jsonschema_description:"Kind of models. bootstrap: each model has its own draw of the prior and its own random weights of the data (Oza & Russell 2001). posterior: draws from the posterior, which are repeated whenever models are solved (Strens 2000). The default is a choice of ours."`
	Update  string  `json:"update,omitempty" when:"belief=bootstrap" jsonschema:"enum=poisson,enum=double-or-nothing,enum=exponential" jsonschema_description:"With belief bootstrap: the weight of a step for a member. poisson: Poisson(1); default as in Oza & Russell (2001). double-or-nothing: 2 or 0 with equal probability (Owen & Eckles 2012). exponential: Exp(1) (Rubin 1981)."`
	Weight  float64 `json:"weight" when:"belief=bootstrap" jsonschema:"exclusiveMinimum=0" jsonschema_description:"With belief bootstrap: weight of a member's draw of the prior, in steps of every state and action. The default is a choice of ours, made on development tasks (docs/studies/families.md, Defaults of learners)."`

	Alpha    *float64 `json:"alpha,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Prior Dirichlet parameter of each successor. Default: 1 over the number of states, so that the prior weighs one step in all; a choice of ours."`
	SeenOnly bool     `json:"seen_only" when:"belief=posterior" jsonschema_description:"With belief posterior: only observed successors are possible, and an untried action stays in its state. By default all states are possible, as in TabulaRL."`
	Rewards  string   `json:"rewards,omitempty" when:"mu0=none" jsonschema:"enum=optimistic,enum=neutral,enum=pessimistic" jsonschema_description:"Prior mean of a mean reward. optimistic: the largest possible reward, which makes unknown pairs attractive. neutral: the middle of the bounds, or 0 if there are none. pessimistic: the smallest possible reward. The default is a choice of ours."`
	Mu0      *float64 `json:"mu0,omitempty" jsonschema_description:"Prior mean of a mean reward, in place of rewards. Default: see rewards."`
	Tau0     float64  `json:"tau0" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Prior precision of a mean reward; default of Osband's TabulaRL."`
	Tau      float64  `json:"tau" when:"belief=posterior" jsonschema:"exclusiveMinimum=0" jsonschema_description:"With belief posterior: precision of rewards around their mean, assumed known; default of TabulaRL."`

	Criterion string  `json:"criterion,omitempty" jsonschema:"enum=discounted,enum=average" jsonschema_description:"Criterion for policies and for the values of options. discounted: (1-gamma) times the value of the present state; default as in Strens (2000). average: reward per step. If an episode ends, the next one begins at once, in a first state drawn by the observed frequencies."`
	Gamma     float64 `json:"gamma" when:"criterion=discounted" jsonschema:"minimum=0,exclusiveMaximum=1" jsonschema_description:"Discount of criterion discounted; the default is a choice of ours."`
	Residual  float64 `json:"residual" when:"criterion=discounted" jsonschema:"exclusiveMinimum=0,maximum=0.01" jsonschema_description:"With criterion discounted and more than 64 states: largest error of a policy's value per step, as a share of the range of a model's rewards; a choice of ours. Smaller models are solved exactly."`
	Growth    float64 `json:"growth" jsonschema:"minimum=0" jsonschema_description:"Models are solved again when the number of tries of some pair of state and action has grown by this share since the last solution. With 1 this is at the first try and when the tries have doubled (Ouyang et al. 2017); the default 0.5 is a choice of ours. With 0 it is after every step. Between solutions, decisions of the host use the last one. The greedy option, while it is held, is also solved again by this rule."`

	Behaviour string  `json:"behaviour,omitempty" jsonschema_extras:"x-exploration=without" jsonschema:"enum=thompson,enum=mean" jsonschema_description:"The policy if the config has no exploration. thompson: the best policy of a member, which is drawn for every episode and whenever models are solved. This is posterior sampling, the default, as in Strens (2000). mean: the best policy of the mean model."`
	Reveal    float64 `json:"reveal" jsonschema_extras:"x-exploration=with" jsonschema:"exclusiveMinimum=0,maximum=1" jsonschema_description:"With exploration in the config: the probability that holding an uninformed option (uniform, count-bonus, repeats) reveals the true member. The default 1 overestimates these options; a choice of ours."`
	Kappa     float64 `json:"kappa" jsonschema_extras:"x-exploration=with recency-bonus" jsonschema:"minimum=0,maximum=1e100" jsonschema_description:"With exploration in the config: the bonus of the option recency-bonus is kappa times the square root of the steps since a pair was last tried; a choice of ours."`
}

// BootstrapModel returns learning with K models of the task as a plugin: an online
// bootstrap, or draws of the posterior of PSRL. It is a vector.OptionAgent with
// options of every kind; a host's problems are those of an options.Reducer, whose
// solvers start from their last solutions. Left alone it is posterior sampling, or
// greedy for the mean model. It assumes that observations are Markov states, and
// that termination is a property of the state entered, as PSRL does.
func BootstrapModel() vector.Plugin {
	return modelbased.OptionPlugin("rlrun/bootstrap-model@1",
		"Learns K models of the task, by online bootstrap or posterior sampling, and plans with them; follows the best policy of one (Strens 2000), or lets the host decide which options to explore with.",
		bootstrapModelParams{Members: 10, Belief: "bootstrap", Update: "poisson", Weight: 0.1, Rewards: "neutral", Tau0: 1, Tau: 1,
			Criterion: "discounted", Gamma: 0.99, Residual: 1e-6, Growth: 0.5, Behaviour: "thompson", Reveal: 1, Kappa: 0.001},
		func(p bootstrapModelParams, t finite.Task) (func() modelbased.OptionDesign, error) {
			err := p.check(t)
			return func() modelbased.OptionDesign { return p.design(t) }, err
		})
}

// design puts the agent together for a lane.
func (p *bootstrapModelParams) design(t finite.Task) modelbased.OptionDesign {
	m := &ensemble{
		prior: mdp.DirichletPrior{States: t.States, Actions: t.Actions, Alpha: *p.Alpha, SeenOnly: p.SeenOnly,
			Rewards: normalReward{*p.Mu0, p.Tau0, p.Tau}},
		members: p.Members, weight: p.Weight, mask: masks[p.Update], mean: p.Behaviour == "mean", restart: p.Criterion == "average",
		memory: make([]*mdp.Tabular, p.Members+1),
	}
	if p.Belief == "posterior" {
		m.draws = make([]*mdp.Tabular, p.Members)
	}
	return modelbased.OptionDesign{
		Ensemble: m,
		Planner:  &modelbased.Solver{Models: m, Criterion: modelbased.Criterion{Average: p.Criterion == "average", Gamma: p.Gamma}, Residual: p.Residual},
		// Growth 0 is after every step.
		Trigger: modelbased.Trigger{Episode: p.Behaviour == "thompson", Growth: max(p.Growth, 1e-300)},
		Growth:  max(p.Growth, 1e-300),
		Options: options.ReduceConfig{Discount: p.discount(), Residual: p.Residual, Kappa: p.Kappa, RevealProbability: p.Reveal},
	}
}

var masks = map[string]mdp.Mask{"poisson": mdp.Poisson, "double-or-nothing": mdp.DoubleOrNothing, "exponential": mdp.Exponential}

// check validates the parameters and settles the prior.
func (p *bootstrapModelParams) check(t finite.Task) error {
	if p.Alpha == nil {
		alpha := 1 / float64(t.States)
		p.Alpha = &alpha
	}
	low, high := t.Spec.RewardLow, t.Spec.RewardHigh
	mu0 := 0.0
	switch {
	case p.Rewards == "neutral" && !math.IsInf(low, 0) && !math.IsInf(high, 0):
		mu0 = low/2 + high/2
	case p.Rewards == "optimistic":
		mu0 = high
	case p.Rewards == "pessimistic":
		mu0 = low
	}
	if p.Mu0 == nil {
		p.Mu0 = &mu0
		if math.IsInf(mu0, 0) {
			side := map[string]string{"optimistic": "an upper", "pessimistic": "a lower"}[p.Rewards]
			return lanes.Unsupported("%s rewards need %s bound on rewards, and %s declares none: declare it in the environment, or set mu0 or another value of rewards in the params of this agent", p.Rewards, side, t.Spec.ID)
		}
	}
	if p.Criterion == "average" {
		if err := checkAverage(t); err != nil {
			return err
		}
	}
	return checkSuccessors(t, p.Members)
}

// discount returns what options.ReduceConfig takes for the criterion. A discount
// of zero, which means gains there, is one that is too small to matter.
func (p *bootstrapModelParams) discount() float64 {
	if p.Criterion == "average" {
		return 0
	}
	return max(p.Gamma, 1e-12)
}

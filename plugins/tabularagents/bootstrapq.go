package tabularagents

import (
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/options"
)

// bootstrapQParams are the parameters of bootstrapped Q-learning.
type bootstrapQParams struct {
	Ensemble
	Behaviour string  `json:"behaviour,omitempty" jsonschema:"enum=thompson,enum=mean" jsonschema_description:"Whose values actions are selected by when no host decides. thompson: those of a member that is drawn now and then, see redraw (Osband et al. 2016). mean: the mean of all members."`
	Redraw    string  `json:"redraw,omitempty" jsonschema:"enum=auto,enum=episode,enum=geometric" jsonschema_description:"When behaviour thompson draws a member. episode: at the start of every episode (Osband et al. 2016). geometric: then, and after every step with probability 1-gamma (Xu, Dong & Van Roy 2024). auto: geometric in tasks that continue, episode in others."`
	Epsilon   float64 `json:"epsilon" jsonschema:"minimum=0,maximum=1" jsonschema_description:"Probability of a uniformly random action when no host decides; default: greedy for the values of behaviour."`
	Values    string  `json:"values,omitempty" jsonschema:"enum=policies,enum=actions" jsonschema_description:"For hosts that decide: what options are worth to a member. policies: what they are, by tables that learn the value of every option's policy off policy (expected Sarsa; van Seijen et al. 2009). actions: the value of the first action, followed by what the member believes best, which understates what exploring can gain; at no cost."`
	Evaluated int     `json:"evaluated" jsonschema:"minimum=0" jsonschema_description:"Of values policies: how many members have tables for what their policies are worth to all; at most members. Every one makes a step a quarter longer, and the decisions too. The others are represented by the one that gains most of those that begin alike."`
	Reveal    float64 `json:"reveal" jsonschema:"exclusiveMinimum=0,maximum=1" jsonschema_description:"For hosts that decide: the probability that holding an uninformed option (uniform, novelty, repeats) shows which member is right; a choice of ours that overrates them."`
	Kappa     float64 `json:"kappa" jsonschema:"minimum=0" jsonschema_description:"For hosts that decide: the option overdue adds kappa times the square root of the steps since an action was last taken to its value, as Dyna-Q+ does (Sutton & Barto 2018, exercise 8.4); a choice of ours."`
}

// BootstrapQ returns Q-learning with K tables that bootstrap their data online
// (Dimitrakakis 2006; Osband et al. 2016) as a plugin. Each begins with its own
// draw of a prior and learns from steps with random weights,
//
//	Q_k(s,a) += α w_k (r + γ max_b Q_k(s',b) − Q_k(s,a)),
//
// each with the maximum of its own, so that what members disagree about is what
// they have not seen. It is a framework.OptionAgent with options of every kind; a
// host's problems are those of options.PolicyTables or options.ValueTables. Left alone it is bootstrapped
// DQN's exploration in a table. It assumes that observations are Markov states.
func BootstrapQ() framework.Plugin {
	return optionPlugin("rlrun/bootstrap-q@1",
		"Q-learning with K tables that bootstrap their data online (Dimitrakakis 2006), each from its own prior; follows one for an episode (Osband et al. 2016), or lets the host decide which options to explore with.",
		bootstrapQParams{defaultEnsemble(), "thompson", "auto", 0, "policies", 0, 1, 0.001},
		func(p bootstrapQParams, t task) (func() optionLearner, error) {
			if err := p.check(t); err != nil {
				return nil, err
			}
			b := defaultBehaviour()
			b.Epsilon = p.Epsilon
			return func() optionLearner {
				x := &bootstrapQ{p: &p, t: t, scratch: make([]float64, t.actions)}
				x.init(&p.Ensemble, t)
				x.selector.init(&b, t.actions)
				x.follower = follower{estimates: x, actions: t.actions, rng: x.selector.rng}
				x.bonusAction = x.bonus
				x.thompson = p.Behaviour == "thompson"
				x.geometric = p.Redraw == "geometric" || p.Redraw == "auto" && t.spec.Continuing
				return x
			}, nil
		})
}

func (p *bootstrapQParams) check(t task) error {
	switch {
	case p.Behaviour != "thompson" && p.Behaviour != "mean":
		return invalid("behaviour is %q, must be thompson or mean", p.Behaviour)
	case p.Redraw != "auto" && p.Redraw != "episode" && p.Redraw != "geometric":
		return invalid("redraw is %q, must be auto, episode or geometric", p.Redraw)
	case !(p.Epsilon >= 0 && p.Epsilon <= 1):
		return invalid("epsilon is %v, must be in [0,1]", p.Epsilon)
	case p.Values != "actions" && p.Values != "policies":
		return invalid("values is %q, must be actions or policies", p.Values)
	case p.Evaluated < 0 || p.Evaluated > p.Members:
		return invalid("evaluated is %d, must be between 0 and members", p.Evaluated)
	case !(p.Reveal > 0 && p.Reveal <= 1):
		return invalid("reveal is %v, must be in (0,1]", p.Reveal)
	case !(p.Kappa >= 0 && p.Kappa <= maxKappa):
		return invalid("kappa is %v, must be in [0,%v]", p.Kappa, maxKappa)
	}
	return p.Ensemble.check(t)
}

// maxValues bounds the number of values of policies.
const maxValues = 1 << 26

// maxKappa keeps bonuses finite.
const maxKappa = 1e100

type bootstrapQ struct {
	ensemble
	p         *bootstrapQParams
	t         task
	selector  selector
	follower  follower
	thompson  bool
	geometric bool
	followed  int // the member that Thompson sampling follows
	last      int // index of the pair of the last action
	scratch   []float64

	tables      tables      // once the host has made its offer
	evaluation  *evaluation // of its options; nil unless wanted
	facing      int         // the state of the last decision
	bonusAction func(options.Kind) int
}

func (x *bootstrapQ) start(seed uint64) {
	x.ensemble.start(seed)
	if x.evaluation != nil {
		x.evaluation.start()
	}
	x.selector.start(seed)
	x.follower.start()
	x.followed = -1
}

func (x *bootstrapQ) begin(s int) int {
	if x.thompson && !x.follower.active {
		x.draw()
	}
	return x.act(s)
}

func (x *bootstrapQ) draw() { x.followed = x.selector.rng.IntN(x.Members) }

func (x *bootstrapQ) step(r float64, next int) int {
	x.take(r, next)
	if x.geometric && x.thompson && !x.follower.active && x.selector.rng.Float64() >= x.Gamma {
		x.draw()
	}
	return x.act(next)
}

func (x *bootstrapQ) take(r float64, next int) { x.learnFrom(r, x.Gamma, next) }

func (x *bootstrapQ) end(r float64, next int, terminated bool) {
	if terminated {
		x.learnFrom(r, 0, next)
	} else {
		x.learnFrom(r, x.Gamma, next)
	}
}

func (x *bootstrapQ) learnFrom(r, gamma float64, next int) {
	followed := x.followed
	if x.follower.active {
		followed = x.follower.member()
	}
	x.learn(x.last, r, gamma, next, followed)
	if x.evaluation != nil {
		x.evaluation.learn(x.last, r, gamma, next)
	}
}

func (x *bootstrapQ) act(s int) int {
	var a int
	switch {
	case x.follower.active:
		a = x.follower.action(s)
	case x.thompson:
		x.member(x.scratch, s, x.followed)
		a = x.selector.action(x.scratch)
	default:
		a = x.selector.action(x.means(s))
	}
	x.last = s*x.t.actions + a
	if x.follower.visits != nil {
		x.follower.visits.update(x.last)
	}
	return a
}

func (x *bootstrapQ) offer(kinds []options.Kind) error {
	if x.Gamma == 1 {
		return unsupported("bootstrap-q has no values per step to decide by when gamma is 1")
	}
	o := options.TableOptions{Kinds: kinds, Reveal: x.p.Reveal, Evaluated: x.p.Evaluated}
	var err error
	if x.p.Values == "policies" {
		var t *options.PolicyTables
		if t, err = options.NewPolicyTables(x.t.actions, x.Members, x.Gamma, o); err == nil {
			if n := len(t.Policies()); len(x.q) > maxValues/n {
				return unsupported("%s has %d states and %d actions, too many for tables of %d policies and %d members; set values to actions", x.t.spec.ID, x.t.states, x.t.actions, n, x.Members)
			}
			x.evaluation = newEvaluation(&x.ensemble, t.Policies())
			x.tables = policyTables{t, x.evaluation}
		}
	} else {
		var t *options.ValueTables
		if t, err = options.NewValueTables(x.t.actions, x.Members, x.Gamma, o); err == nil {
			x.tables = valueTables{t, &x.ensemble}
		}
	}
	if err != nil {
		return unsupported("%v", err)
	}
	x.follower.offer(kinds, x.t, x.p.Kappa)
	return nil
}

func (x *bootstrapQ) face(s int, p *options.Problem) error {
	if x.tables == nil {
		return unsupported("no options have been offered")
	}
	x.facing = s
	return x.tables.at(p, s, x.bonusAction)
}

// bonus returns the first action of an option of kind Overdue or Novelty.
func (x *bootstrapQ) bonus(k options.Kind) int {
	if k == options.Overdue {
		return x.follower.visits.overdue(x.facing, x.means(x.facing))
	}
	return x.follower.visits.rarest(x.facing)
}

func (x *bootstrapQ) follow(option, s int) int {
	x.follower.follow(x.tables.Option(option))
	return x.act(s)
}

package linearagents

import (
	"fmt"
	"math/rand/v2"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/options"
)

// bootstrapParams are the parameters of bootstrapped linear Q-learning.
type bootstrapParams struct {
	Ensemble
	Behaviour string  `json:"behaviour,omitempty" jsonschema:"enum=thompson,enum=mean" jsonschema_description:"Whose values actions are selected by when no host decides. thompson: those of a member that is drawn now and then, see redraw (Osband et al. 2016). mean: the mean of all members."`
	Redraw    string  `json:"redraw,omitempty" jsonschema:"enum=auto,enum=episode,enum=geometric" jsonschema_description:"When behaviour thompson draws a member. episode: at the start of every episode (Osband et al. 2016). geometric: then, and after every step with probability 1-gamma (Xu, Dong & Van Roy 2024). auto: geometric in tasks that continue, episode in others."`
	Epsilon   float64 `json:"epsilon" jsonschema:"minimum=0,maximum=1" jsonschema_description:"Probability of a uniformly random action when no host decides; default: greedy for the values of behaviour."`
	Values    string  `json:"values,omitempty" jsonschema:"enum=policies,enum=actions" jsonschema_description:"For hosts that decide: what options are worth to a member. actions: the value of the first action, followed by what the member believes best, which understates what exploring can gain; at no cost. policies: what they are, by functions that learn the value of every option's policy off policy (expected Sarsa; van Seijen et al. 2009)."`
	Evaluated int     `json:"evaluated" jsonschema:"minimum=0" jsonschema_description:"Of values policies: how many members have functions for what their policies are worth to all; at most members. The others are represented by the one that gains most of those that begin alike."`
	Reveal    float64 `json:"reveal" jsonschema:"exclusiveMinimum=0,maximum=1" jsonschema_description:"For hosts that decide: the probability that holding an uninformed option (uniform, repeats) shows which member is right; a choice of ours that overrates them."`
}

// Bootstrap returns Q-learning with K functions that are linear in tile-coded
// observations and bootstrap their data online (Dimitrakakis 2006; Osband et al.
// 2016) as a plugin. Each begins with its own draw of a prior and learns from steps
// with random weights by the semi-gradient (Sutton & Barto 2018, §10.1, with the
// maximum of §6.5 in the target): every weight of the n features active in s and of
// action a moves by
//
//	(α/n) w_k (r + γ max_b Q_k(s',b) − Q_k(s,a)),
//
// each member with the maximum of its own. Off-policy with function approximation,
// it has no guarantee to converge (§11.3), and in the tasks at hand does. It is a
// framework.OptionAgent with options of every kind but overdue and novelty, which
// need counts of states; a host's problems are those of options.ValueTables or
// options.PolicyTables. With one member, update all, sd 0 and behaviour mean it is linear Q-learning.
func Bootstrap() framework.Plugin {
	return optionPlugin("rlrun/bootstrap-linear@1",
		"Q-learning with K linear functions of tile-coded observations that bootstrap their data online, each from its own prior; follows one for an episode (Osband et al. 2016), or lets the host decide which options to explore with.",
		bootstrapParams{defaultEnsemble(), "thompson", "auto", 0, "actions", 0, 1},
		func(p bootstrapParams, t task) (func() optionLearner, error) {
			c, err := p.Features.coder(t)
			if err != nil {
				return nil, err
			}
			if err := p.Ensemble.check(t, c); err != nil {
				return nil, err
			}
			if err := p.check(); err != nil {
				return nil, err
			}
			return func() optionLearner {
				x := &bootstrap{p: &p, scratch: make([]float64, t.actions)}
				x.init(&p.Ensemble, c, t.actions)
				x.selector.init()
				x.thompson = p.Behaviour == "thompson"
				x.geometric = p.Redraw == "geometric" || p.Redraw == "auto" && t.spec.Continuing
				return x
			}, nil
		})
}

func (p *bootstrapParams) check() error {
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
	}
	return nil
}

type bootstrap struct {
	ensemble
	p         *bootstrapParams
	selector  selector
	thompson  bool
	geometric bool
	drawn     int // the member that Thompson sampling follows
	last      int // the last action
	scratch   []float64

	tables     tables              // once the host has made its offer
	evaluation *evaluation         // of its options; nil unless wanted
	hosted     bool                // the host has chosen an option in this run
	option     options.TableOption // that it chose
	begun      bool                // an action was taken by it
	duration   *rand.Zipf          // of repeated actions, less one; nil unless they are offered
	repeat     uint64              // steps for which option.Of is still to be repeated
}

func (x *bootstrap) start(seed uint64) {
	x.ensemble.start(seed)
	if x.evaluation != nil {
		x.evaluation.start()
	}
	x.selector.start(seed)
	x.hosted, x.drawn = false, -1
}

func (x *bootstrap) begin(o []float64) int {
	if x.thompson && !x.hosted {
		x.draw()
	}
	return x.watch(o)
}

func (x *bootstrap) draw() { x.drawn = x.selector.rng.IntN(x.Members) }

func (x *bootstrap) watch(o []float64) int {
	x.look(o)
	return x.act()
}

func (x *bootstrap) step(r float64, o []float64) int {
	x.take(r, o)
	if x.geometric && x.thompson && !x.hosted && x.selector.rng.Float64() >= x.Gamma {
		x.draw()
	}
	return x.act()
}

func (x *bootstrap) look(o []float64) {
	x.ensemble.look(o)
	if x.evaluation != nil {
		x.evaluation.look()
	}
}

func (x *bootstrap) take(r float64, o []float64) { x.learnFrom(r, x.Gamma, o) }

func (x *bootstrap) learnFrom(r, gamma float64, o []float64) {
	x.learn(x.last, r, gamma, o, x.followed())
	if x.evaluation != nil {
		x.evaluation.learn(x.last, r, gamma)
	}
}

func (x *bootstrap) end(r float64, o []float64, terminated bool) {
	gamma := x.Gamma
	if terminated {
		gamma = 0
	}
	x.learnFrom(r, gamma, o)
}

// followed returns the member that selects the actions, -1 if none does.
func (x *bootstrap) followed() int {
	switch {
	case !x.hosted:
		return x.drawn
	case x.option.Kind == options.Members:
		return x.option.Of
	}
	return -1
}

// act selects an action where it is.
func (x *bootstrap) act() int {
	switch {
	case x.hosted:
		x.last = x.obey()
	case x.thompson:
		x.member(x.scratch, x.drawn)
		x.last = x.selector.epsilonGreedy(x.scratch, x.p.Epsilon)
	default:
		x.means(x.scratch)
		x.last = x.selector.epsilonGreedy(x.scratch, x.p.Epsilon)
	}
	return x.last
}

// obey returns the action of the option that the host chose.
func (x *bootstrap) obey() int {
	first := !x.begun
	x.begun = true
	switch o := &x.option; o.Kind {
	case options.Members:
		x.member(x.scratch, o.Of)
		return largest(x.scratch)
	case options.Constants:
		return o.Of
	case options.Deviations:
		if first {
			return o.Of
		}
	case options.Uniform:
		return x.selector.rng.IntN(x.actions)
	case options.Repeats:
		if x.repeat == 0 {
			o.Of, x.repeat = x.selector.rng.IntN(x.actions), x.duration.Uint64()+1
		}
		x.repeat--
		return o.Of
	}
	x.means(x.scratch)
	return largest(x.scratch)
}

// largest returns the first action of the largest value.
func largest(q []float64) int {
	best := 0
	for a, v := range q {
		if v > q[best] {
			best = a
		}
	}
	return best
}

// Of repeated actions, as in options.ReduceOptions: the exponent is that of
// Dabney, Ostrovski & Barreto (2021).
const (
	repeatExponent = 2
	repeatLongest  = 100
)

func (x *bootstrap) offer(kinds []options.Kind) error {
	if x.Gamma == 1 {
		return fmt.Errorf("bootstrap-linear has no values per step to decide by when gamma is 1: %w", framework.ErrUnsupported)
	}
	for _, k := range kinds {
		switch k {
		case options.Overdue, options.Novelty:
			return fmt.Errorf("bootstrap-linear counts no states, which options of kind %s need: %w", k, framework.ErrUnsupported)
		case options.Repeats:
			x.duration = rand.NewZipf(x.selector.rng, repeatExponent, 1, repeatLongest-1)
		}
	}
	o := options.TableOptions{Kinds: kinds, Reveal: x.p.Reveal, Evaluated: x.p.Evaluated}
	if x.p.Values == "actions" {
		t, err := options.NewValueTables(x.actions, x.Members, x.Gamma, o)
		if err != nil {
			return fmt.Errorf("%w: %w", err, framework.ErrUnsupported)
		}
		x.tables = valueTables{t, &x.ensemble}
		return nil
	}
	t, err := options.NewPolicyTables(x.actions, x.Members, x.Gamma, o)
	if err != nil {
		return fmt.Errorf("%w: %w", err, framework.ErrUnsupported)
	}
	if n := len(t.Policies()); len(x.w) > maxWeights/n {
		return fmt.Errorf("%d weights for each of %d policies are too many; give a smaller features.memory, or set values to actions: %w", len(x.w), n, framework.ErrUnsupported)
	}
	x.evaluation = newEvaluation(&x.ensemble, t.Policies())
	x.tables = policyTables{t, x.evaluation}
	return nil
}

func (x *bootstrap) face(p *options.Problem) error {
	if x.tables == nil {
		return fmt.Errorf("no options have been offered: %w", framework.ErrUnsupported)
	}
	return x.tables.at(p)
}

func (x *bootstrap) follow(option int) int {
	x.option, x.hosted, x.begun, x.repeat = x.tables.Option(option), true, false, 0
	return x.act()
}

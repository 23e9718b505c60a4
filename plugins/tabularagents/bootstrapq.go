package tabularagents

import (
	"slices"

	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/options"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
	"github.com/rlrun/rlrun/plugins/internal/members"
)

// bootstrapQParams are the parameters of bootstrapped Q-learning.
type bootstrapQParams struct {
	Ensemble
	members.Params
	Values    string  `json:"values,omitempty" jsonschema_extras:"x-exploration=with" jsonschema:"enum=policies,enum=actions" jsonschema_description:"With exploration in the config: the value of an option for a member. policies: the value of the option's policy, learned off policy (expected Sarsa; van Seijen et al. 2009), or with replays computed at every decision in the models of the members. actions: the value of its first action, followed by the member's best policy; this costs nothing and underestimates the gain of exploring. The default is a choice of ours."`
	Evaluated int     `json:"evaluated" when:"values!=actions" jsonschema_extras:"x-exploration=with" jsonschema:"minimum=0" jsonschema_description:"With values policies: the number of members whose policies every member evaluates; at most members. The default is a choice of ours. Each one makes steps and decisions slower, a step of bootstrap-q by a quarter. Among the other members with the same first action, the one with the largest lead represents them."`
	Kappa     float64 `json:"kappa" jsonschema_extras:"x-exploration=with recency-bonus" jsonschema:"minimum=0,maximum=1e100" jsonschema_description:"With exploration in the config: the option recency-bonus adds a bonus to the value of each action, kappa times the square root of the steps since it was last taken (Sutton & Barto 2018, exercise 8.4); a choice of ours."`
}

// BootstrapQ returns Q-learning with K tables that bootstrap their data online
// (Dimitrakakis 2006; Osband et al. 2016) as a plugin. Each begins with its own
// draw of a prior and learns from steps with random weights,
//
//	Q_k(s,a) += α w_k (r + γ max_b Q_k(s',b) − Q_k(s,a)),
//
// each with the maximum of its own, so that what members disagree about is what
// they have not seen. It is a vector.OptionAgent with options of every kind; a
// host's problems are those of options.Tables. Left alone it is bootstrapped
// DQN's exploration in a table. It assumes that observations are Markov states.
func BootstrapQ() vector.Plugin {
	return finite.OptionPlugin("rlrun/bootstrap-q@1",
		"Q-learning with K tables that bootstrap their data online (Dimitrakakis 2006), each from its own prior; follows one for an episode (Osband et al. 2016), or lets the host decide which options to explore with.",
		bootstrapQParams{Ensemble: defaultEnsemble(), Params: members.Defaults(), Values: "policies", Kappa: 0.001},
		func(p bootstrapQParams, t finite.Task) (func() finite.Learner, error) {
			if p.Redraw == "auto" && p.Replays > 0 && p.Criterion == "run" {
				p.Redraw = "geometric" // ends are steps like others
			}
			if p.Evaluated > p.Members {
				return nil, lanes.Invalid("evaluated is %d, must be between 0 and members", p.Evaluated)
			}
			if err := p.Ensemble.check(t); err != nil {
				return nil, err
			}
			b := defaultBehaviour()
			b.Epsilon = p.Epsilon
			return func() finite.Learner {
				x := &bootstrapQ{p: &p, t: t, scratch: make([]float64, t.Actions)}
				x.init(&p.Ensemble, t)
				x.selector.init(&b, t.Actions)
				x.executor = members.NewExecutor(&p.Params, p.Members, p.Gamma, t.Spec.Continuing, x.selector.rng)
				return x
			}, nil
		})
}

// maxValues bounds the number of values of policies.
const maxValues = 1 << 26

type bootstrapQ struct {
	ensemble
	p        *bootstrapQParams
	t        finite.Task
	selector selector
	executor members.Executor
	here     int     // the state that it is in
	last     int     // index of the pair of the last action
	ended    bool    // an episode terminated, and the next one follows: where is yet to be seen
	paid     float64 // by its last step
	scratch  []float64

	evaluation *evaluation     // of the host's options; nil unless wanted
	planned    *planned        // the same, with replays
	visits     *options.Visits // nil unless an option goes by them
}

func (x *bootstrapQ) Start(seed uint64) {
	x.ensemble.start(seed)
	if x.evaluation != nil {
		x.evaluation.start()
	}
	x.selector.start(seed)
	x.executor.BeginRun()
	x.ended = false
	if x.visits != nil {
		x.visits.Forget()
	}
}

func (x *bootstrapQ) Begin(s int) int {
	x.arrive(s)
	x.executor.BeginEpisode()
	return x.Act(s)
}

func (x *bootstrapQ) Step(r float64, next int) int {
	x.learnFrom(r, x.Gamma, next)
	x.executor.Step()
	return x.Act(next)
}

func (x *bootstrapQ) SetObservation(s int) {
	x.arrive(s)
	x.here = s
}

// arrive learns where an episode begins, if the end of the previous one led there.
func (x *bootstrapQ) arrive(s int) {
	if x.ended {
		x.ended = false
		x.learnFrom(x.paid, x.Gamma, s)
	}
}

func (x *bootstrapQ) Learn(r float64, next int) {
	x.learnFrom(r, x.Gamma, next)
	x.here = next
}

func (x *bootstrapQ) End(r float64, next int, terminated bool) {
	switch {
	case !terminated:
		x.learnFrom(r, x.Gamma, next)
	case x.replay != nil && x.Criterion == "run":
		x.ended, x.paid = true, r
	default:
		x.learnFrom(r, 0, next)
	}
}

func (x *bootstrapQ) learnFrom(r, gamma float64, next int) {
	if x.replay == nil {
		x.learn(x.last, r, gamma, next, x.executor.Member())
	} else {
		to := next
		if gamma == 0 {
			to = -1
		}
		x.replay.learn(x.last, r, to, x.executor.Member(), x.executor.Hosted())
	}
	if x.evaluation != nil {
		x.evaluation.learn(x.last, r, gamma, next)
	}
}

func (x *bootstrapQ) Act(s int) int {
	x.here = s
	var a int
	if x.executor.Hosted() {
		a = x.executor.Action(x)
	} else if k := x.executor.Member(); k >= 0 {
		if x.replay != nil {
			x.replay.follow(k)
		}
		x.member(x.scratch, s, k)
		a = x.selector.action(x.scratch)
	} else {
		a = x.selector.action(x.means(s))
	}
	x.last = s*x.t.Actions + a
	if x.visits != nil {
		x.visits.Update(s, a)
	}
	return a
}

// Greedy implements options.TableAgent.
func (x *bootstrapQ) Greedy() int { return x.greedy(x.here) }

// Prefers implements options.TableAgent.
func (x *bootstrapQ) Prefers(k int) int { return x.prefers(k, x.here) }

// Means implements options.TableAgent.
func (x *bootstrapQ) Means() []float64 { return x.means(x.here) }

// Visits implements options.TableAgent.
func (x *bootstrapQ) Visits() (*options.Visits, int) { return x.visits, x.here }

func (x *bootstrapQ) SetOptionKinds(kinds []options.Kind) error {
	err := x.executor.SetOptionKinds(x.t.Actions, options.TableConfig{Kinds: kinds, RevealProbability: x.p.Reveal,
		Policies: x.p.Values == "policies", Planned: x.replay != nil, Evaluated: x.p.Evaluated, Kappa: x.p.Kappa})
	if err != nil {
		return err
	}
	if policies := x.executor.EvaluatedPolicies(); policies != nil {
		if n := len(policies); len(x.q) > maxValues/n {
			return lanes.Unsupported("%s has %d states and %d actions, too many for tables of %d policies and %d members; set values to actions", x.t.Spec.ID, x.t.States, x.t.Actions, n, x.Members)
		}
		if x.replay != nil {
			x.planned = newPlanned(x.replay, x.executor.Tables)
		} else {
			x.evaluation = newEvaluation(&x.ensemble, policies)
		}
	}
	if x.executor.NeedsVisits() {
		x.visits, err = options.NewVisits(x.t.States, x.t.Actions)
	}
	return err
}

// Declare implements lanes.Declarer.
func (x *bootstrapQ) Declare(list []options.DeclaredOption) error {
	if x.executor.Tables == nil {
		return lanes.Unsupported("no options have been offered")
	}
	x.executor.Declare(list)
	if x.evaluation != nil {
		if len(x.q) > maxValues/max(len(list), 1) {
			return lanes.Unsupported("%s has %d states and %d actions, too many for tables of %d options and %d members", x.t.Spec.ID, x.t.States, x.t.Actions, len(list), x.Members)
		}
		x.evaluation.declare(list)
	}
	return nil
}

// DeclaredValues implements options.DeclaredValuer.
func (x *bootstrapQ) DeclaredValues(dst []float64, i int) (steps float64) {
	if x.planned != nil {
		return x.planned.declaredValue(dst, &x.executor.DeclaredOptions()[i], x.here)
	}
	x.evaluation.declaredValue(dst, i, x.here)
	return 0
}

func (x *bootstrapQ) DescribeDecision(p *options.Problem) error {
	var e []float64
	x.executor.DrawMember()
	switch {
	case x.evaluation != nil:
		e = x.evaluation.state(x.here)
	case x.planned != nil:
		e = x.planned.state(x.here)
	}
	if err := x.executor.Describe(p, x.values(x.here), e, x); err != nil {
		return err
	}
	x.hold(p)
	return nil
}

// hold says for how long the drawn member is to be held.
func (x *bootstrapQ) hold(p *options.Problem) {
	if x.planned == nil {
		x.executor.HoldForGood(p)
		return
	}
	for i := range p.Arms {
		if o := x.executor.Option(i); o.Kind == options.DrawnMember {
			p.Arms[i].Steps = x.planned.shows(slices.Index(x.planned.policies, o), x.here, o.Of)
		}
	}
}

func (x *bootstrapQ) Choose(option int) int {
	x.executor.Execute(option)
	return x.Act(x.here)
}

func (x *bootstrapQ) GreedyPolicy(dst []int) ([]int, error) {
	for s := range x.t.States {
		dst = append(dst, x.greedy(s))
	}
	return dst, nil
}

// GreedyAction implements lanes.Greedy.
func (x *bootstrapQ) GreedyAction(s int) int {
	if x.replay != nil {
		x.replay.settle()
	}
	return x.greedy(s)
}

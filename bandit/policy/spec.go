package policy

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/internal/tags"
)

// Spec says which policy to make. Fields left out have the defaults in their
// descriptions. A field that the kind does not use must be left out.
type Spec struct {
	Kind string `json:"kind" jsonschema:"required" jsonschema_description:"The way arms are selected. optimistic and optimistic-stochastic are Algorithms 1 and 2 of the paper."`

	Gamma      *float64 `json:"gamma,omitempty" jsonschema:"minimum=0,maximum=1" jsonschema_description:"Discount of the horizon. Default 0.99, the largest of the paper, or 1 if horizon is given. 1 needs a horizon."`
	Horizon    *int     `json:"horizon,omitempty" jsonschema:"minimum=1,maximum=1000000000000" jsonschema_description:"Number of pulls that count. Default: infinitely many, as in the paper's experiments, which discount."`
	Hold       *int     `json:"hold,omitempty" jsonschema:"minimum=1,maximum=1000000000000,default=1" jsonschema_description:"T, the number of pulls of one exploration; default of the paper."`
	LowerBound *float64 `json:"lower_bound,omitempty" jsonschema_description:"b, a lower bound on mean rewards. Default: the smallest reward of the task, as in the paper, where it is 0."`

	Bound   string `json:"bound,omitempty" jsonschema:"enum=U,enum=U+,enum=V" jsonschema_description:"The bound that optimistic and index use. Default U for optimistic, the paper's, and V for index, a choice of ours."`
	Order   string `json:"order,omitempty" jsonschema:"enum=advantage,enum=gamma,default=advantage" jsonschema_description:"Which arm optimistic takes if several are worth exploring: the one with the largest advantage sup U, or with the smallest gamma*. The paper has two arms; the default is a choice of ours."`
	Compare string `json:"compare,omitempty" jsonschema:"enum=mean,enum=pairs,enum=all-pairs,default=mean" jsonschema_description:"How P(q_i >= q_j + delta) compares the population of arm i with arm j: with the mean of j, with the members of j one to one, or with all pairs of members. Default: the mean, which the paper's lemma needs (docs/theory.md 1.4)."`
	Draw    string `json:"draw,omitempty" jsonschema:"enum=per-arm,enum=common,default=per-arm" jsonschema_description:"Whether each arm draws its own population member, or one number k is drawn for all arms. The paper leaves it open; the default is a choice of ours."`
	Choice  string `json:"choice,omitempty" jsonschema:"enum=argmax,enum=program,default=argmax" jsonschema_description:"How optimistic-stochastic chooses: the largest u_i, default of the paper, or as a published program of its author does, which by mistake mostly takes the first arm that passes."`

	Epsilon     *float64 `json:"epsilon,omitempty" jsonschema:"minimum=0,maximum=1,default=0.01" jsonschema_description:"Probability with which epsilon-greedy takes an arm at random; default of the paper."`
	Temperature *float64 `json:"temperature,omitempty" jsonschema:"exclusiveMinimum=0,default=0.1" jsonschema_description:"Temperature of softmax, in units of reward; a choice of ours; set it for your task."`
	Decay       *float64 `json:"decay,omitempty" jsonschema:"minimum=0,default=0" jsonschema_description:"Decay of epsilon or temperature, which are divided by 1 + decay*t after t rewards. Default: constant, as in Sutton & Barto (2018, §2.2)."`

	Confidence *float64 `json:"confidence,omitempty" jsonschema:"minimum=0" jsonschema_description:"c of the upper confidence bounds: sqrt(c ln t/n) of ucb1 (default 2; Auer, Cesa-Bianchi & Fischer 2002), ln t + c ln ln t of kl-ucb (default 0, as Garivier & Cappé 2011 recommend), quantile 1 - 1/(t (ln horizon)^c) of bayes-ucb (default 0, as Kaufmann, Cappé & Garivier 2012 recommend; other values need a horizon)."`
	Accuracy   *float64 `json:"accuracy,omitempty" jsonschema:"exclusiveMinimum=0,default=0.1" jsonschema_description:"epsilon of e3, whose arms are known after (H*arms/epsilon)^4 pulls each, where H is the sum of the horizon's weights. For the eliminations: the accepted distance from the best arm, as a share of the range of rewards. The default is a choice of ours; successive-elimination uses it only if it is given."`
	Failure    *float64 `json:"failure,omitempty" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1,default=0.05" jsonschema_description:"delta, the accepted probability of failure of the eliminations; a choice of ours."`
	Budget     *int     `json:"budget,omitempty" jsonschema:"minimum=1,maximum=1000000000000" jsonschema_description:"Pulls after which budgeted commits to an arm. Required by it; there is no default."`
	Allocation string   `json:"allocation,omitempty" jsonschema:"enum=round-robin,enum=biased-robin,enum=lookahead,enum=vpi,default=round-robin" jsonschema_description:"How budgeted spends its pulls. round-robin: in turn. biased-robin: it stays with an arm while it succeeds. lookahead: on the arm for which all remaining pulls would be worth most. vpi: on the arm with the largest value of perfect information (Madani, Lizotte & Greiner 2004; vpi is ours). Default: round-robin, a choice of ours."`
	Samples    *int     `json:"samples,omitempty" jsonschema:"minimum=2,maximum=1000000,default=256" jsonschema_description:"Number of values by which ids represents a belief that is not a population; a choice of ours."`
}

// Task is what a policy is told about its bandit.
type Task struct {
	Arms      int     // at least 1
	Low, High float64 // the range of rewards; ±Inf if unbounded
}

// Check returns an error unless the reward is finite and in range. A reward that
// fails must not reach Policy.Update.
func (t Task) Check(reward float64) error {
	if reward >= t.Low && reward <= t.High && !math.IsInf(reward, 0) {
		return nil
	}
	return fmt.Errorf("reward %v is not a finite number in [%v, %v]", reward, t.Low, t.High)
}

func (t Task) bounded() bool { return !math.IsInf(t.Low, 0) && !math.IsInf(t.High, 0) }

// Maker makes policies of one specification. Data that they can share, such as a
// plan found by backward induction, are computed once. It is safe for concurrent
// use.
type Maker struct {
	beliefs func(rng *rand.Rand) (beliefs, []bandit.Beta)
	policy  func(b beliefs, betas []bandit.Beta) Policy
}

// New returns a policy that has seen nothing yet. rng draws what is random in
// the prior: the members of populations, and particles.
func (m *Maker) New(rng *rand.Rand) Policy {
	return m.policy(m.beliefs(rng))
}

// New returns one policy; see NewMaker.
func New(s Spec, b BeliefSpec, task Task, rng *rand.Rand) (Policy, error) {
	m, err := NewMaker(s, b, task)
	if err != nil {
		return nil, err
	}
	return m.New(rng), nil
}

// NewMaker checks the specifications and prepares what policies made of them
// share. Errors name the field that is wrong and what it may be. For
// backward-induction it takes the time of the induction.
func NewMaker(s Spec, b BeliefSpec, task Task) (*Maker, error) {
	k, err := s.check(task)
	if err != nil {
		return nil, err
	}
	if b.Kind == "" && len(k.beliefs) > 0 {
		b.Kind = k.beliefs[0]
	}
	d := builder{Spec: s, task: task, belief: b.Kind}
	m := &Maker{}
	switch {
	case len(k.beliefs) == 0:
		if b != (BeliefSpec{}) {
			return nil, fmt.Errorf("belief: policy %s keeps no beliefs: leave it out", s.Kind)
		}
		m.beliefs = func(*rand.Rand) (beliefs, []bandit.Beta) { return beliefs{}, nil }
	case !slices.Contains(anyBelief, b.Kind):
		return nil, fmt.Errorf("belief: kind is %q, must be one of %s", b.Kind, strings.Join(anyBelief, ", "))
	case !slices.Contains(k.beliefs, b.Kind):
		return nil, fmt.Errorf("belief: policy %s works with %s, not with %s", s.Kind, strings.Join(k.beliefs, ", "), b.Kind)
	default:
		if err = tags.CheckGiven(&b); err == nil {
			m.beliefs, d.prior, err = b.maker(task)
		}
		if err != nil {
			return nil, fmt.Errorf("belief: %w", err)
		}
	}
	if m.policy, err = k.build(&d); err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	return m, nil
}

// NewOn returns a policy on beliefs of the caller's, one an arm, of any type: with
// a likelihood, say, or a prior that BeliefSpec has no name for. The policy teaches
// them from then on. Kinds that do not work with every belief refuse them.
func NewOn(s Spec, arms []bandit.Learner, task Task) (Policy, error) {
	k, err := s.check(task)
	switch {
	case err != nil:
		return nil, err
	case len(arms) != task.Arms:
		return nil, fmt.Errorf("there are %d beliefs about %d arms", len(arms), task.Arms)
	case !slices.Contains(k.beliefs, "particles"): // which are as good as any
		return nil, fmt.Errorf("policy %s does not work with every belief: use New", s.Kind)
	}
	build, err := k.build(&builder{Spec: s, task: task, belief: "one of your own"})
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	return build(beliefs{learners: slices.Clone(arms)}, nil), nil
}

// check returns the kind of s. It returns an error if the task is invalid, or if a
// field is set that the kind does not use.
func (s *Spec) check(task Task) (kind, error) {
	if task.Arms < 1 || task.Arms > math.MaxInt32 {
		return kind{}, fmt.Errorf("arms is %d, must be between 1 and %d", task.Arms, math.MaxInt32)
	}
	if !(task.Low <= task.High) {
		return kind{}, fmt.Errorf("the range of rewards [%v, %v] is empty", task.Low, task.High)
	}
	k, err := kindOf(s.Kind)
	if err == nil {
		err = refuse(*s, s.Kind, k.fields)
	}
	if err == nil {
		err = tags.CheckGiven(s)
	}
	if err != nil {
		return kind{}, fmt.Errorf("policy: %w", err)
	}
	return k, nil
}

// refuse returns an error if a field of the struct spec is set that is not among
// the names allowed.
func refuse(spec any, kind, allowed string) error {
	v := reflect.ValueOf(spec)
	names := strings.Fields(allowed)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if name == "kind" || v.Field(i).IsZero() || slices.Contains(names, name) {
			continue
		}
		if len(names) == 0 {
			return fmt.Errorf("%s does not apply to %s, which has no parameters", name, kind)
		}
		return fmt.Errorf("%s does not apply to %s, which takes %s", name, kind, strings.Join(names, ", "))
	}
	return nil
}

// builder holds what kinds build a policy of.
type builder struct {
	Spec
	task   Task
	belief string       // its kind
	prior  *bandit.Beta // of beta beliefs
}

// or returns what p points to, or a default.
func or[T any](p *T, value T) T {
	if p == nil {
		return value
	}
	return *p
}

// clock reads gamma, horizon and hold.
func (d *builder) clock() (c clock, err error) {
	hold := or(d.Hold, 1)
	if d.Horizon == nil {
		gamma := or(d.Gamma, 0.99)
		if gamma == 1 {
			return c, errors.New("gamma is 1, must be in [0,1) as the horizon is infinite; for an undiscounted problem give horizon, the number of pulls")
		}
		return newClock(bandit.Discounted(gamma), hold), nil
	}
	return newClock(bandit.DiscountedFinite(or(d.Gamma, 1), *d.Horizon-1), hold), nil
}

// lower reads the lower bound b.
func (d *builder) lower() (float64, error) {
	b := or(d.LowerBound, d.task.Low)
	if math.IsInf(b, 0) {
		return 0, errors.New("lower_bound must be given, as the rewards of this task have none")
	}
	return b, nil
}

// width returns the width of the range of rewards, for kinds that scale them.
func (d *builder) width() (float64, error) {
	w := d.task.High - d.task.Low
	if !d.task.bounded() || !(w > 0) || math.IsInf(w, 0) {
		return 0, fmt.Errorf("%s needs rewards in a bounded range, not in [%v, %v]", d.Kind, d.task.Low, d.task.High)
	}
	return w, nil
}

// bounded reads the kind of bound, the clock and the lower bound, which only bound U has.
func (d *builder) bounded(standard bandit.IndexKind) (kind bandit.IndexKind, c clock, low float64, err error) {
	kind = standard
	if d.Bound != "" {
		if kind, err = bandit.ParseIndexKind(d.Bound); err != nil {
			return kind, c, 0, err
		}
	}
	if c, err = d.clock(); err != nil {
		return kind, c, 0, err
	}
	switch {
	case kind == bandit.U:
		low, err = d.lower()
	case d.LowerBound != nil:
		err = errors.New("lower_bound applies to bound U only")
	}
	return kind, c, low, err
}

// onPopulations refuses an option that only populations support.
func (d *builder) onPopulations(field, value string) error {
	if d.belief == "population" || d.belief == "point" {
		return nil
	}
	return fmt.Errorf("%s: %s needs a belief of kind population, not %s", field, value, d.belief)
}

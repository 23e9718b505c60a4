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

// Spec is a policy with its parameters: one of the structs that are named after policies, as
// EpsilonGreedy. A parameter that is nil or empty has the default that its description gives.
type Spec interface {
	// build checks what the tags of the parameters leave open, and returns what makes policies.
	build(t *setting) (maker, error)
}

// maker makes a policy on beliefs that have seen nothing yet.
type maker = func(b beliefs) Policy

// setting is what a policy is built for.
type setting struct {
	Task
	kind   string     // of the policy
	belief BeliefSpec // with its defaults; nil if there are none, or they are the caller's
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
	beliefs beliefMaker
	policy  maker
}

// New returns a policy that has seen nothing yet. rng draws what is random in
// the prior: the members of populations.
func (m *Maker) New(rng *rand.Rand) Policy { return m.policy(m.beliefs(rng)) }

// New returns one policy; see NewMaker.
func New(s Spec, b BeliefSpec, task Task, rng *rand.Rand) (Policy, error) {
	m, err := NewMaker(s, b, task)
	if err != nil {
		return nil, err
	}
	return m.New(rng), nil
}

// NewMaker checks the parameters and prepares what policies made of them share. If b is nil, the
// belief is the default of the policy. Errors name the parameter that is wrong and what it may be.
// For BackwardInduction it takes the time of the induction.
func NewMaker(s Spec, b BeliefSpec, task Task) (*Maker, error) {
	k, s, err := complete(s, task)
	if err != nil {
		return nil, err
	}
	m := &Maker{beliefs: func(*rand.Rand) beliefs { return beliefs{} }}
	t := setting{Task: task, kind: k.Name}
	if len(k.Beliefs) > 0 {
		t.belief, m.beliefs, err = k.believe(b, task)
	} else if b != nil {
		err = fmt.Errorf("policy %s keeps no beliefs: leave it out", k.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("belief: %w", err)
	}
	if m.policy, err = s.build(&t); err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	return m, nil
}

// NewOn returns a policy on beliefs of the caller's, one an arm, of any type: with
// a likelihood, say, or a prior of each arm that no BeliefSpec has. The policy teaches
// them from then on. Kinds that do not work with every belief refuse them.
func NewOn(s Spec, arms []bandit.Learner, task Task) (Policy, error) {
	k, s, err := complete(s, task)
	switch {
	case err != nil:
		return nil, err
	case len(arms) != task.Arms:
		return nil, fmt.Errorf("there are %d beliefs about %d arms", len(arms), task.Arms)
	case !slices.Contains(k.Beliefs, "gamma-poisson"): // which is as good as any
		return nil, fmt.Errorf("policy %s does not work with every belief: use New", k.Name)
	}
	build, err := s.build(&setting{Task: task, kind: k.Name})
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	return build(beliefs{learners: slices.Clone(arms)}), nil
}

// complete returns the kind of s, and s with its defaults. It returns an error if the task or a
// parameter is invalid.
func complete(s Spec, task Task) (k Kind, _ Spec, err error) {
	if task.Arms < 1 || task.Arms > math.MaxInt32 {
		return k, nil, fmt.Errorf("arms is %d, must be between 1 and %d", task.Arms, math.MaxInt32)
	}
	if !(task.Low <= task.High) {
		return k, nil, fmt.Errorf("the range of rewards [%v, %v] is empty", task.Low, task.High)
	}
	if k, err = kindOf(s); err == nil {
		s, err = tags.Complete(s)
	}
	if err != nil {
		return k, nil, fmt.Errorf("policy: %w", err)
	}
	return k, s, nil
}

// believe returns the belief of a policy with its defaults, and what draws beliefs about all arms.
func (k Kind) believe(b BeliefSpec, task Task) (BeliefSpec, beliefMaker, error) {
	if typeOf(b) == nil {
		b = beliefKinds[slices.IndexFunc(beliefKinds, func(x BeliefKind) bool { return x.Name == k.Beliefs[0] })].Spec
	}
	if name := nameOf(b); !slices.Contains(k.Beliefs, name) {
		return nil, nil, fmt.Errorf("policy %s works with %s, not with %s", k.Name, strings.Join(k.Beliefs, ", "), name)
	}
	if d, ok := reflect.Indirect(reflect.ValueOf(b)).Interface().(NormalGammaBelief); ok && k.Beliefs[0] == "point" && (d.Alpha != nil || d.Beta != nil) {
		given := "alpha"
		if d.Alpha == nil {
			given = "beta"
		}
		return nil, nil, fmt.Errorf("%s has no effect with policy %s, which uses the means alone: leave it out", given, k.Name)
	}
	b, err := tags.Complete(b)
	if err != nil {
		return nil, nil, err
	}
	if p, ok := b.(PopulationBelief); ok && *p.Members == 1 && !slices.Contains(k.Beliefs, "point") {
		return nil, nil, fmt.Errorf("members is 1, must be at least 2: without a spread policy %s is greedy", k.Name)
	}
	make, err := b.maker(task)
	return b, make, err
}

// or returns what p points to, or a default.
func or[T any](p *T, value T) T {
	if p == nil {
		return value
	}
	return *p
}

// Horizon says how rewards to come count. With discount γ and H pulls, the one after k others has the
// weight γ^k, for k < H (docs/theory.md §0).
type Horizon struct {
	Gamma *float64 `json:"gamma,omitempty" jsonschema:"minimum=0,maximum=1" jsonschema_description:"Discount of the horizon. Default 0.99, the largest of the paper, or 1 if horizon is given. 1 needs a horizon."`
	Pulls *int     `json:"horizon,omitempty" jsonschema:"minimum=1,maximum=1000000000000" jsonschema_description:"Number of pulls that count. Default: infinitely many, as in the paper's experiments, which discount."`
}

// clock returns the horizon at its start, for explorations of hold pulls.
func (h Horizon) clock(hold int) (c clock, err error) {
	if h.Pulls != nil {
		return newClock(bandit.DiscountedFinite(or(h.Gamma, 1), *h.Pulls-1), hold), nil
	}
	gamma := or(h.Gamma, 0.99)
	if gamma == 1 {
		return c, errors.New("gamma is 1, must be in [0,1) as the horizon is infinite; for an undiscounted problem give horizon, the number of pulls")
	}
	return newClock(bandit.Discounted(gamma), hold), nil
}

// outlasts refuses a horizon that ends with an exploration of hold pulls. Then ρ = 1, and the bounds U⁺ and V are
// differences of means (docs/theory.md §1.8).
func (h Horizon) outlasts(hold int) error {
	if h.Pulls != nil && *h.Pulls <= hold || h.Gamma != nil && *h.Gamma == 0 {
		return errors.New("exploring never pays, as no reward after it counts: choose greedy, or give a longer horizon or a larger gamma")
	}
	return nil
}

// threshold reads what the exploration threshold needs: the bound, the horizon, and the lower bound b,
// which only bound U has.
func (t *setting) threshold(bound string, h Horizon, hold int, lower *float64) (kind bandit.IndexKind, c clock, low float64, err error) {
	if kind, err = bandit.ParseIndexKind(bound); err == nil {
		c, err = h.clock(hold)
	}
	if err == nil && kind != bandit.U { // which depends on b also then
		err = h.outlasts(hold)
	}
	if low = or(lower, t.Low); err == nil && kind == bandit.U && math.IsInf(low, 0) {
		err = errors.New("lower_bound must be given, as the rewards of this task have none")
	}
	if err == nil && low > t.High {
		err = fmt.Errorf("lower_bound is %v, and no reward is above %v: give a bound that means of arms can be above", low, t.High)
	}
	return kind, c, low, err
}

// width returns the width of the range of rewards, for policies that scale them.
func (t *setting) width() (float64, error) {
	w := t.High - t.Low
	if !t.bounded() || !(w > 0) || math.IsInf(w, 0) {
		return 0, fmt.Errorf("%s needs rewards in a bounded range, not in [%v, %v]", t.kind, t.Low, t.High)
	}
	return w, nil
}

// populations reports whether beliefs are populations.
func (t *setting) populations() bool {
	_, ok := t.belief.(PopulationBelief)
	return ok
}

// onPopulations refuses a value of a parameter that only populations support. They support all; other
// beliefs support the usual one.
func (t *setting) onPopulations(name, value, usual string) error {
	if value == usual || t.populations() {
		return nil
	}
	return fmt.Errorf("%s: %s needs a belief of kind population, not %s", name, value, nameOf(t.belief))
}

package options

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/internal/each"
)

// Rule compares options with the greedy one (docs/theory.md §3.4). Every rule is a
// file of its own, rule_*.go, and a line in Rules. Rules are compared with ==.
type Rule struct {
	Name string // in configurations
	Doc  string // what it compares, in one sentence
	// Bounds are the bounds on the value of exploring that the rule knows, none if it
	// uses no such bound.
	Bounds []bandit.IndexKind
	Trials bool // it needs Problem.Trials
	// Horizon says that choices depend on DeciderConfig.Horizon, and with it on what exploring costs.
	Horizon bool

	begin   func(c *Comparison)                         // prepares c for the comparisons of one problem
	compare func(c *Comparison, x int) ComparisonResult // compares option x, which is not the greedy one, with the greedy one
	best    func(c *Comparison) ComparisonResult        // a way of its own to the best of other options than the greedy one; or nil
}

// String returns the name of the rule.
func (r *Rule) String() string { return r.Name }

// Rules are all rules, in the order of the documentation.
var Rules = []*Rule{RuleOptimistic, RuleCommonModel, RuleIndex, RuleVPI, RuleOptimisticStochastic, RulePosteriorSampling, RuleUpperConfidence, RuleInformationDirected, RuleKnowledgeGradient, RuleGain, RuleNever}

// RuleNames returns the names of Rules, in their order.
func RuleNames() []string {
	return each.Of(Rules, func(r *Rule) string { return r.Name })
}

// RuleNamed returns the rule of a name.
func RuleNamed(name string) (*Rule, error) {
	for _, r := range Rules {
		if r.Name == name {
			return r, nil
		}
	}
	return nil, fmt.Errorf("unknown rule %q (one of %s)", name, strings.Join(RuleNames(), ", "))
}

// DefaultRule and DefaultBound decide between the kinds of options of a host that gives no
// rule. With DrawnMember, a drawn member is followed if the value of perfect information
// about it exceeds what following it costs (docs/theory.md §3.2).
var DefaultRule = RuleCommonModel

// DefaultBound is the bound of DefaultRule if no rule is given.
const DefaultBound = bandit.V

// RuleAndKinds returns a rule and kinds of options with defaults for what is nil:
// RuleGain goes with Pairs, RuleNever with Greedy, any other rule with DefaultKinds. If both
// are nil they are DefaultRule and DrawnMember. It returns an error if a kind
// occurs twice, or the rule cannot compare the kinds.
func RuleAndKinds(r *Rule, kinds []Kind) (*Rule, []Kind, error) {
	if err := CheckKinds(kinds); err != nil {
		return nil, nil, err
	}
	pairs := slices.Contains(kinds, Pairs)
	others := slices.ContainsFunc(kinds, func(k Kind) bool { return k != Pairs && k != Greedy })
	switch {
	case r == nil && pairs:
		r = RuleGain
	case r == nil && kinds == nil:
		return DefaultRule, []Kind{DrawnMember}, nil
	case r == nil:
		r = DefaultRule
	case kinds == nil && r == RuleGain:
		return r, []Kind{Pairs}, nil
	case kinds == nil && r == RuleNever:
		return r, []Kind{Greedy}, nil
	}
	switch {
	case kinds == nil:
		return r, DefaultKinds, nil
	case r == RuleGain && (others || !pairs):
		return nil, nil, fmt.Errorf("options: the rule %s decides between options of kind %s, and no others", r.String(), Pairs.String())
	case pairs && r != RuleGain && r != RuleNever:
		return nil, nil, fmt.Errorf("options: the rule %s compares values in models, which options of kind %s do not have; use the rule %s", r.String(), Pairs.String(), RuleGain.String())
	}
	return r, kinds, nil
}

// Every bound, for rules that know them all.
var everyBound = []bandit.IndexKind{bandit.U, bandit.UPlus, bandit.V}

// Comparison is a problem that is being decided, with what rules share. Advantages
// are per unit of the horizon's weight G.
type Comparison struct {
	Problem
	Config *DeciderConfig // how to decide; not changed
	Share  float64        // ρ, the share of the horizon that exploring takes
	RNG    *rand.Rand     // for rules that draw

	*memory
	mean       float64 // v̄(y), the mean value of the greedy option
	size       float64 // Σ|v_k(y)−b|, for ceilings of RuleCommonModel
	tableShare float64 // ρ of the table of RuleIndex
	index      float64 // of the greedy option, for RuleIndex
	common     int     // the member drawn for all options by RuleOptimisticStochastic, or −1
	largest    float64 // size of a value
	exact      bool    // advantages have no rounding error
}

// ComparisonResult is the outcome of comparing an option with the greedy one.
type ComparisonResult struct {
	Option int // index in Problem.Arms
	// Advantage is that of exploring with the option, per unit of the horizon's
	// weight. It is positive if exploring pays.
	Advantage float64
	// Delta is the improvement hoped for, and P the probability that the improvement
	// is at least that; both 0 if there is none.
	Delta, P float64
}

// DeciderConfig says how to decide between options.
type DeciderConfig struct {
	// Rule compares options; RuleOptimistic if nil.
	Rule *Rule
	// Horizon counts steps, not commitments.
	Horizon bandit.Horizon
	// Bound is the bound on the value of exploring, one of Rule.Bounds. An uninformed
	// option has no U, and gets UPlus in its place.
	Bound bandit.IndexKind
	// LowerBound is b, below which no value can lie; the bound U needs it.
	LowerBound float64
	// Common lets RuleOptimisticStochastic draw one member for all options, that is one model,
	// instead of one member for each option.
	Common bool
}

func (c *DeciderConfig) check() error {
	if c.Rule == nil {
		c.Rule = RuleOptimistic
	}
	bounds := c.Rule.Bounds
	switch {
	case c.Bound < bandit.U || c.Bound > bandit.V:
		return fmt.Errorf("options: unknown bound %d", int(c.Bound))
	case math.IsNaN(c.LowerBound) || math.IsInf(c.LowerBound, 0):
		return fmt.Errorf("options: the lower bound of values is %v, must be finite", c.LowerBound)
	case c.Common && c.Rule != RuleOptimisticStochastic:
		return fmt.Errorf("options: common applies to the rule %s only, which draws members; the rule is %s", RuleOptimisticStochastic.String(), c.Rule.String())
	case len(bounds) > 0 && !slices.Contains(bounds, c.Bound):
		return fmt.Errorf("options: the rule %s has no bound %s", c.Rule.String(), c.Bound)
	}
	return nil
}

package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/framework/explore"
	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/options"
)

// Defaults of keys that a resolved config always has.
const (
	defaultDiscount  = 0.99
	defaultDecisions = 200
	defaultBlock     = 20 // runs between looks
)

// checkEffects refuses keys of the experiment that change nothing beside its others. The
// default values of keys are accepted, as resolved configs have them.
func (p *Plan) checkEffects() error {
	c := &p.Config
	needs := func(other, beside string) error {
		return fmt.Errorf("has no effect %s: leave it out, or %s", beside, other)
	}
	discounted := func(a Component) bool { // the discount is the horizon of its exploration
		return a.Exploration != nil && a.Exploration.Horizon == nil && a.Exploration.weighs()
	}
	err := cmp.Or(At(twice(c.Outputs), "outputs"), At(twice(c.Record.Metrics), "record", "metrics"), At(twice(c.Report.Metrics), "report", "metrics"))
	if err != nil {
		return err
	}
	if c.Steps == 0 {
		for i, m := range c.Asked() {
			if !metric.Define(m).Sparse {
				return At(fmt.Errorf("no agent learns with steps: 0, so there is no %s: record %s or %s, or give steps", m, result.EvaluationReturn, result.EvaluationReward), "record", "metrics", i)
			}
		}
	}
	for _, k := range []struct {
		idle bool // the key is given, and has no effect
		path Path
		err  error
	}{
		{c.Steps > 0 && c.MetricDiscount() != defaultDiscount && !result.DiscountedReturn.In(c.Record.Metrics) && !slices.ContainsFunc(p.Agents, discounted),
			Path{"discount"}, needs("record "+string(result.DiscountedReturn), "on metrics that are not discounted")},
		{c.Steps > 0 && *c.Record.Decisions != defaultDecisions && !p.Explores(), Path{"record", "decisions"}, needs("give an agent exploration", "where no agent has exploration")},
		{c.Steps > 0 && c.Transport != "" && !slices.ContainsFunc(slices.Concat(p.Environments, p.Agents), func(x Component) bool { return x.Transport == "" }),
			Path{"transport"}, needs("leave out that of a component", "beside those of all components")},
		{c.Steps > 0 && c.Colocate == Together && !slices.ContainsFunc(p.Environments, func(x Component) bool { return strings.HasPrefix(x.Plugin, "gymnasium:") }),
			Path{"colocate"}, needs("name an environment of Gymnasium", "on other environments")},
		{c.Steps == 0 && c.Record.Grid != "", Path{"record", "grid"}, needs("give steps", "with steps: 0")},
		{c.Steps == 0 && c.Record.Every != 0, Path{"record", "every"}, needs("give steps", "with steps: 0")},
		{c.Steps == 0 && c.Record.Points != 0, Path{"record", "points"}, needs("give steps", "with steps: 0")},
		{c.Steps == 0 && c.Save != nil, Path{"save"}, needs("give steps", "with steps: 0, as agents do not learn")},
		{c.Steps == 0 && c.Checkpoint != nil, Path{"checkpoint"}, needs("give steps", "with steps: 0, as agents do not learn")},
		{c.Steps == 0 && c.Evaluate != nil && c.Evaluate.Every > 1, Path{"evaluate", "every"}, needs("give steps", "with steps: 0, as agents do not learn")},
		{c.Evaluate != nil && c.Evaluate.Limit != 0 && c.Evaluate.Episodes == 0, Path{"evaluate", "limit"}, needs("give episodes", "on evaluations that count steps")},
		{slices.Contains(c.Outputs, "comparisons") && c.Compare == nil, Path{"outputs"}, errors.New("comparisons is made if compare says how: leave it out, or give compare")},
		{len(c.Outputs) > 0 && !slices.Contains(c.Outputs, "plots") && c.Report.Axis != "", Path{"report", "axis"}, needs("add plots to outputs", "on outputs without plots")},
		{c.Compare != nil && len(p.Agents) == 1, Path{"compare"}, needs("name a second agent", "with one agent")},
		{c.Compare != nil && c.Compare.Until == "" && c.Compare.Block != defaultBlock, Path{"compare", "block"}, needs("give until: "+untilDecided, "without until")},
	} {
		if k.idle {
			return At(k.err, k.path...)
		}
	}
	return nil
}

// twice refuses a name that is in a list twice.
func twice[T ~string](list []T) error {
	for i, name := range list {
		if slices.Contains(list[:i], name) {
			return At(fmt.Errorf("%s is there twice: remove one", name), i)
		}
	}
	return nil
}

// weighs tells whether choices depend on the horizon. A rule of a plugin gets it in its questions.
func (x *Exploration) weighs() bool {
	o, err := x.Settings(nil, 1, 0, 0)
	if err != nil { // which check has told
		return true
	}
	rule, _, err := options.RuleAndKinds(o.Decider.Rule, o.Kinds)
	return err != nil || o.RuleName != "" || rule.Horizon
}

// checkEffects refuses keys of an exploration that change nothing beside its others. o is what
// they mean.
func (x *Exploration) checkEffects(o explore.Config) error {
	rule, kinds, err := options.RuleAndKinds(o.Decider.Rule, o.Kinds)
	if err != nil {
		return err
	}
	beside, other := "the bound "+o.Decider.Bound.String(), "choose the bound "+bandit.U.String()
	bounded := len(rule.Bounds) > 0 && o.RuleName == ""
	switch {
	case o.RuleName != "":
		beside, other = "the rule "+o.RuleName, "choose a rule of rlrun"
	case !bounded:
		beside, other = "the rule "+rule.String(), "choose a rule with bounds, such as "+options.RuleOptimistic.String()
	}
	weighs := o.RuleName != "" || rule.Horizon
	w := x.Commitment
	if w == nil {
		w = &Commitment{}
	}
	shortest, longest := max(w.Floor, 1), o.Commitment.Most()
	var estimated []string // keys of the estimate
	for _, k := range []struct {
		name  string
		given bool
	}{{"statistic", w.Statistic == "mean"}, {"epsilon", w.Epsilon != 0}, {"quantile", w.Quantile != 0}, {"tv", w.TV != 0}, {"scale", w.Scale != 0}} {
		if k.given {
			estimated = append(estimated, k.name)
		}
	}
	onlyGreedy := len(x.Options) > 0 && !slices.ContainsFunc(x.Options, func(k OptionKind) bool { return k.Name != options.Greedy.String() })
	switch {
	case x.Bound != "" && !bounded:
		return FieldErrorf("bound", "has no effect with %s: leave it out, or %s", beside, other)
	case x.LowerBound != nil && (!bounded || o.Decider.Bound != bandit.U):
		return FieldErrorf("lower_bound", "has no effect with %s: leave it out, or %s", beside, other)
	case x.LowerBound != nil && rule != options.RuleIndex && !slices.ContainsFunc(kinds, func(k options.Kind) bool { return k != options.Greedy && options.Directs(k) }):
		return FieldErrorf("lower_bound", "has no effect where all options to explore with are uninformed: leave it out, or add a kind such as %s", options.Members)
	case x.Horizon != nil && !weighs:
		return FieldErrorf("horizon", "has no effect with the rule %s, which uses no horizon: leave it out, or choose a rule that does, such as %s", rule, options.RuleOptimistic)
	case o.RuleName == "" && x.Horizon != nil && x.Horizon.Gamma != nil && x.Horizon.Steps == 1:
		return At(errors.New("has no effect with steps: 1, as the first reward alone counts: leave it out, or give more steps"), "horizon", "gamma")
	case o.RuleName == "" && x.Horizon != nil && x.Horizon.Gamma != nil && *x.Horizon.Gamma == 0 && x.Horizon.Steps > 1:
		return At(errors.New("has no effect with gamma: 0, as the first reward alone counts: leave it out, or give a larger gamma"), "horizon", "steps")
	case w.Return && !weighs:
		return At(fmt.Errorf("has no effect with the rule %s, which uses no horizon: leave it out, or choose a rule that does, such as %s", rule, options.RuleOptimistic), "commitment", "return")
	case onlyGreedy && rule != options.RuleNever:
		return FieldErrorf("options", "%s alone leaves the rule nothing to decide: add a kind to explore with, such as %s, or choose the rule %s", options.Greedy, options.Members, options.RuleNever)
	case rule == options.RuleNever && o.RuleName == "" && len(x.Options) > 0 && !onlyGreedy && !slices.Contains(o.Kinds, options.Pairs):
		return FieldErrorf("options", "have no effect with the rule %s, which follows the greedy option whatever the others are: leave them out, or choose a rule that explores, such as %s", rule, options.RuleOptimistic)
	case shortest == longest && w.Fixed == 0 && len(estimated) > 0:
		return At(fmt.Errorf("has no effect where floor and cap are both %d: leave it out, or set them apart", longest), "commitment", estimated[0])
	case (w.Epsilon != 0 || w.Statistic == "mean") && o.Estimator == explore.Autocorrelation:
		return FieldErrorf("commitment", "statistic and epsilon have no effect with the estimator %s: leave them out, or give the estimator %s", o.Estimator, explore.Counts)
	case w.Quantile != 0 && o.Estimator == explore.Autocorrelation:
		return FieldErrorf("commitment", "quantile has no effect with the estimator %s: leave it out, or give the estimator %s", o.Estimator, explore.Counts)
	}
	return nil
}

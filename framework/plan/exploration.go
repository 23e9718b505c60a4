package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/framework/explore"
	"github.com/rlrun/rlrun/options"
)

// Exploration lets the host decide when an agent explores, by a threshold on the values of
// its options (docs/exploration.md). The agent must have the ability "options".
type Exploration struct {
	// Rule is how options are compared, one of options.Rules, or the plugin of a rule. Default:
	// gain for options of kind pair, else common-model.
	Rule string `json:"rule,omitempty"`
	// Params are parameters of the plugin of a rule.
	Params json.RawMessage `json:"params,omitempty" jsonschema:"type=object"`
	// Bound is the bound on the value of exploring: U (of the paper; needs a lower
	// bound), U+ or V. The rule optimistic-stochastic has U only. Default: U of a rule
	// that is given, V of the default rule.
	Bound string `json:"bound,omitempty" jsonschema:"enum=U,enum=U+,enum=V"`
	// Common lets the rule optimistic-stochastic draw one member for all options. Default:
	// false, one each.
	Common bool `json:"common,omitempty" jsonschema:"default=false"`
	// Horizon is the weight of later rewards. Default: gamma is the experiment's discount, if
	// the config gives one below 1; else steps are the experiment's steps.
	Horizon *Horizon `json:"horizon,omitempty"`
	// LowerBound is the lower bound on the value of an option, per step, that the bound U
	// needs. Default: the lower bound of the environment's rewards, or 0 if that is above 0
	// and episodes end.
	LowerBound *float64 `json:"lower_bound,omitempty"`
	// Options are the kinds of options to choose from besides the greedy one, of
	// options.Kinds, and files and plugins that declare options. Default: drawn-member if no rule is given, pair for the rule gain, members
	// and constants for other rules.
	Options []OptionKind `json:"options,omitempty" jsonschema:"minItems=1"`
	// Commitment is the number of steps for which a chosen option is held. Default for the
	// rule gain: fixed 1, since a pair is held until it has been tried.
	Commitment *Commitment `json:"commitment,omitempty"`
}

// Horizon is the weight of later rewards: gamma, steps, or both; or episodes; or weights.
type Horizon struct {
	// Gamma is the discount of a reward one step later.
	Gamma *float64 `json:"gamma,omitempty" jsonschema:"minimum=0,maximum=1"`
	// Steps is the number of rewards that count, from the first of a run on.
	Steps int `json:"steps,omitempty" jsonschema:"minimum=1,maximum=1000000000000"`
	// Episodes is the number of episodes whose rewards count, from the first of a run on. The steps
	// until they have ended are estimated by their mean length so far.
	Episodes int `json:"episodes,omitempty" jsonschema:"minimum=1,maximum=1000000000000"`
	// Weights are those of the first rewards of a run, one by one; later ones do not count.
	Weights []float64 `json:"weights,omitempty" jsonschema:"minItems=1,maxItems=1000000"`
}

// Commitment is the number of steps for which a chosen option is held: the exploration
// mixing time, after which a deviation from the greedy policy is forgotten, or a fixed
// number.
type Commitment struct {
	// Estimator is the method of estimation. counts: from the model of the
	// observed transitions. posterior: from models drawn from the belief that these
	// leave, in which an action never tried may lead to any state seen; with an
	// interval in decisions.csv. autocorrelation: from how long rewards and
	// observations stay correlated. auto: counts if observations and actions
	// are discrete, else autocorrelation. Default: auto.
	Estimator string `json:"estimator,omitempty" jsonschema:"enum=auto,enum=counts,enum=autocorrelation,enum=posterior,default=auto"`
	// Fixed is the commitment itself. Then nothing is estimated.
	Fixed int `json:"fixed,omitempty" jsonschema:"minimum=1,maximum=1000000000"`
	// Floor is the shortest commitment. Default: 1.
	Floor int `json:"floor,omitempty" jsonschema:"minimum=1,maximum=1000000000,default=1"`
	// Cap is the longest commitment. Default: 1000, or floor if that is larger.
	Cap int `json:"cap,omitempty" jsonschema:"minimum=1,maximum=1000000000,default=1000"`
	// Scale multiplies the estimate; the product is rounded up. Default: 1.
	Scale float64 `json:"scale,omitempty" jsonschema:"exclusiveMinimum=0,maximum=1000000000,default=1"`
	// Statistic is, with counts, what is taken of the mixing times of states and actions, states
	// weighted by their visits: quantile, or mean, rounded up, as in the definition of the
	// paper. Default: quantile.
	Statistic string `json:"statistic,omitempty" jsonschema:"enum=mean,enum=quantile,default=quantile"`
	// Quantile is, with the estimator counts, the share of mixing times that are at most T. Each
	// state and action has a mixing time, with the weight of the visits of its state. 1: T is the
	// longest of them. Default: 0.9.
	Quantile float64 `json:"quantile,omitempty" jsonschema:"exclusiveMinimum=0,maximum=1,default=0.9"`
	// TV is the distance, in total variation, below which a deviation is
	// forgotten. Default: 0.25.
	TV float64 `json:"tv,omitempty" jsonschema:"minimum=1e-6,maximum=1,default=0.25"`
	// Epsilon is, with counts, this distance in the scale of the paper, in place of tv: 2/n
	// times the total variation, where n is the number of states that were left.
	Epsilon float64 `json:"epsilon,omitempty" jsonschema:"minimum=1e-9,maximum=2"`
	// Return also counts the return to the greedy policy as a cost: the share of the horizon
	// that exploring takes is then that of the commitment plus the estimate. Default: false.
	Return bool `json:"return,omitempty" jsonschema:"default=false"`
}

// JSONSchemaExtend adds the choices that come from the lists of package options.
func (Exploration) JSONSchemaExtend(s *jsonschema.Schema) {
	// A name of rlrun's own, or of a plugin or file.
	either := func(at *jsonschema.Schema) *jsonschema.Schema {
		names := &jsonschema.Schema{Type: "string"}
		at.AnyOf = []*jsonschema.Schema{names, {Type: "string", Pattern: outside}}
		return names
	}
	rule, _ := s.Properties.Get("rule")
	rule.Description = "Rule is how options are compared."
	names := either(rule)
	for _, r := range options.Rules {
		names.Enum = append(names.Enum, r.String())
		rule.Description += fmt.Sprintf(" %s: %s.", r, r.Doc)
	}
	rule.Description += " Or the plugin of a rule: the path of a program or of a .py file, rlrun-plugin-NAME, or a command line. Default: gain for options of kind pair, else common-model."
	kinds, _ := s.Properties.Get("options")
	kinds.Description = "Options are the kinds of options to choose from besides the greedy one."
	kinds.Items = new(jsonschema.Schema)
	names = either(kinds.Items)
	parameters := jsonschema.NewProperties()
	parameters.Set("plugin", &jsonschema.Schema{Type: "string"})
	parameters.Set("params", &jsonschema.Schema{Type: "object"})
	kinds.Items.AnyOf = append(kinds.Items.AnyOf, &jsonschema.Schema{Type: "object", Properties: parameters, Required: []string{"plugin"}, AdditionalProperties: jsonschema.FalseSchema})
	for _, k := range options.Kinds {
		names.Enum = append(names.Enum, k.String())
		kinds.Description += fmt.Sprintf(" %s: %s.", k.String(), k.Doc())
	}
	for _, s := range options.Sources {
		names.Enum = append(names.Enum, s.Name)
		kinds.Description += fmt.Sprintf(" %s: %s.", s.Name, s.Doc)
	}
	kinds.Description += " Or files that declare options (.yaml, .json), and plugins of options, named as that of a rule, or with parameters as {plugin: NAME, params: {…}}. Default: drawn-member if no rule is given, pair for the rule gain, members and constants for other rules."
}

// check says what a schema cannot.
func (x *Exploration) check() error {
	o, err := x.Settings(nil, 1, 0, 0)
	if err != nil {
		return err
	}
	w := x.Commitment
	if w == nil {
		return x.checkEffects(o)
	}
	if w.Fixed > 0 && *w != (Commitment{Fixed: w.Fixed}) {
		return FieldErrorf("commitment", "fixed leaves nothing to estimate; remove it, or the other keys of commitment")
	}
	if w.Cap > 0 && w.Floor > w.Cap {
		return FieldErrorf("commitment", "floor %d is above cap %d", w.Floor, w.Cap)
	}
	if w.Epsilon > 0 && w.TV > 0 {
		return FieldErrorf("commitment", "tv and epsilon are one distance in two scales; remove one of them")
	}
	if w.Statistic == "mean" && w.Quantile > 0 {
		return FieldErrorf("commitment", "the statistic is the mean; remove quantile")
	}
	return x.checkEffects(o)
}

// Settings returns what package explore needs. discount, steps and episodes are the
// experiment's, discount nil and episodes 0 if it gives none; log is the number of decisions to keep.
func (x *Exploration) Settings(discount *float64, steps, episodes, log int) (explore.Config, error) {
	o := explore.Config{LowerBound: x.LowerBound, Log: log}
	o.Decider.Common = x.Common
	var err error
	o.Decider.Bound = options.DefaultBound
	switch {
	case IsOptionFile(x.Rule) && !strings.Contains(x.Rule, " "):
		return o, FieldErrorf("rule", "%s is a file of options by its name, and no rule: move it to options; a rule is one of rlrun's or a program, such as ./myrule.py", x.Rule)
	case isOutside(x.Rule):
		o.Decider.Rule, o.RuleName = options.DefaultRule, x.Rule // the plugin decides in its place
	case x.Params != nil:
		return o, FieldErrorf("params", "are of the plugin of a rule, and the rule is rlrun's own: leave them out, or name a plugin as the rule")
	case x.Rule != "":
		o.Decider.Bound = bandit.U
		if o.Decider.Rule, err = options.RuleNamed(x.Rule); err != nil {
			return o, At(err, "rule")
		}
	}
	if x.Bound != "" {
		if o.Decider.Bound, err = bandit.ParseIndexKind(x.Bound); err != nil {
			return o, At(err, "bound")
		}
	}
	for i, kind := range x.Options {
		name := kind.Name
		switch {
		case slices.ContainsFunc(x.Options[:i], kind.same):
			return o, At(fmt.Errorf("%s is there twice: remove one", name), "options", i)
		case kind.Params != nil && kind.Source() == nil:
			return o, At(fmt.Errorf("are of the plugin of a source of options, and %s is none: leave them out", name), "options", i, "params")
		case name == options.Pairs.String() && o.RuleName != "":
			return o, At(fmt.Errorf("the rule of a plugin gets options with values in models, which options of kind %s do not have; use the rule %s", name, options.RuleGain.String()), "options", i)
		case isOutside(name):
			o.Sources = append(o.Sources, explore.Source{File: name})
			continue
		}
		source, err := options.SourceNamed(name)
		if err == nil {
			o.Sources = append(o.Sources, explore.Bundled(source))
			continue
		}
		k, unknown := options.KindNamed(name)
		if unknown != nil || k == options.Declared {
			return o, At(fmt.Errorf("%w; a file is named with a slash, such as ./%s.py", err, name), "options", i)
		}
		o.Kinds = append(o.Kinds, k)
	}
	if o.Decider.Horizon, o.Episodes, err = x.Horizon.compile(discount, steps, episodes); err != nil {
		return o, At(err, "horizon")
	}
	d := o.Decider
	kinds := o.Kinds
	if len(o.Sources) > 0 {
		kinds = append(slices.Clone(kinds), options.Declared)
	}
	if d.Rule, _, err = options.RuleAndKinds(d.Rule, kinds); err == nil {
		_, err = options.NewDecider(d)
	}
	if err != nil {
		return o, At(errors.New(strings.TrimPrefix(err.Error(), "options: ")), "rule")
	}
	if w := x.Commitment; w != nil {
		o.Commitment = options.CommitmentConfig{Fixed: w.Fixed, Floor: w.Floor, Cap: w.Cap, Scale: w.Scale}
		o.Commitment.Mixing.Eta, o.Commitment.Return, o.Quantile = w.TV, w.Return, w.Quantile
		o.Commitment.Mixing.Epsilon, o.Mean = w.Epsilon, w.Statistic == "mean"
		if w.Estimator != "" {
			if o.Estimator, err = explore.ParseEstimator(w.Estimator); err != nil {
				return o, At(err, "commitment", "estimator")
			}
		}
	}
	return o, nil
}

// compile returns the horizon, and the number of episodes that it is an upper bound of, 0 for none; h may be nil.
func (h *Horizon) compile(discount *float64, steps, episodes int) (bandit.Horizon, int, error) {
	fail := func(err error) (bandit.Horizon, int, error) { return bandit.Horizon{}, 0, err }
	switch {
	case h == nil && discount != nil && *discount < 1:
		return bandit.Discounted(*discount), 0, nil
	case h == nil:
		return bandit.Finite(steps - 1), episodes, nil
	case h.Episodes < 0:
		return fail(FieldErrorf("episodes", "must be at least 1, not %d", h.Episodes))
	case h.Episodes > 0 && (h.Gamma != nil || h.Steps != 0 || h.Weights != nil):
		return fail(errors.New("episodes say all; remove gamma, steps and weights"))
	case h.Episodes > 0:
		return bandit.Finite(steps - 1), h.Episodes, nil
	case h.Weights != nil && (h.Gamma != nil || h.Steps != 0):
		return fail(errors.New("weights say all; remove gamma and steps"))
	case h.Weights != nil:
		total := 0.0
		for i, w := range h.Weights {
			if total += w; !(w >= 0) || math.IsInf(total, 1) {
				return fail(FieldErrorf("weights", "number %d is %v: weights must be at least 0, with a finite sum", i, w))
			}
		}
		if total == 0 {
			return fail(FieldErrorf("weights", "must have a positive sum"))
		}
		return bandit.Weights(h.Weights), 0, nil
	case h.Gamma != nil && !(*h.Gamma >= 0 && *h.Gamma <= 1):
		return fail(FieldErrorf("gamma", "must be in [0,1], not %v", *h.Gamma))
	case h.Steps < 0:
		return fail(FieldErrorf("steps", "must be at least 1, not %d", h.Steps))
	case h.Gamma == nil && h.Steps == 0:
		return fail(errors.New("needs gamma, steps, episodes or weights"))
	case h.Gamma == nil:
		return bandit.Finite(h.Steps - 1), 0, nil
	case h.Steps > 0:
		return bandit.DiscountedFinite(*h.Gamma, h.Steps-1), 0, nil
	case *h.Gamma == 1:
		return fail(errors.New("gamma 1 needs steps"))
	}
	return bandit.Discounted(*h.Gamma), 0, nil
}

// Explores tells whether the host decides for some agent of the plan.
func (p *Plan) Explores() bool {
	return slices.ContainsFunc(p.Agents, func(c Component) bool { return c.Exploration != nil })
}

// Label names the exploration in the default name of an agent.
func (x *Exploration) Label() string {
	o, err := x.Settings(nil, 1, 0, 0)
	if err != nil { // which check has told
		return x.Rule
	}
	rule := x.Rule
	if class := ClassOf(rule); class != rule {
		return class
	}
	if isOutside(rule) {
		words := strings.Fields(rule)
		base := path.Base(words[len(words)-1])
		return strings.TrimPrefix(strings.TrimSuffix(base, path.Ext(base)), executables)
	}
	if rule == "" {
		r, _, _ := options.RuleAndKinds(nil, o.Kinds)
		rule = r.String()
	}
	if r, err := options.RuleNamed(rule); err != nil || x.Bound == "" || len(r.Bounds) == 0 {
		return rule
	}
	return rule + " " + x.Bound
}

// SweptExploration begins the keys of a sweep that are not parameters of the
// plugin but keys of exploration.
const SweptExploration = "exploration."

// with returns the exploration with the value at path, below exploration,
// replaced; x may be nil.
func (x *Exploration) with(path []string, v json.RawMessage) (*Exploration, error) {
	var data json.RawMessage
	if x != nil {
		var err error
		if data, err = json.Marshal(x); err != nil {
			return nil, err
		}
	}
	data, err := SetParam(data, path, v)
	if err != nil {
		return nil, err
	}
	out := new(Exploration)
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(out); err != nil {
		var te *json.UnmarshalTypeError
		if errors.As(err, &te) {
			return nil, fmt.Errorf("%s is of the wrong kind", te.Value)
		}
		return nil, errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return out, nil
}

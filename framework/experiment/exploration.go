package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/explore"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/options"
)

// Exploration lets the host decide when an agent explores, by a threshold on what
// its options are believed to be worth (docs/exploration.md). The agent must have
// the capability "options".
type Exploration struct {
	// Rule is how options are compared: paired (with the greedy one, model by
	// model), mean (with the mean value of the greedy one), index (the option of
	// the largest index), stochastic (by a drawn member each) or never (always the
	// greedy one). Default: mean, the paper's Algorithm 1.
	Rule string `json:"rule,omitempty" jsonschema:"enum=paired,enum=mean,enum=index,enum=stochastic,enum=never,default=mean"`
	// Bound is the bound on what exploring is worth: U (of the paper; needs a lower
	// bound), U+ or V. stochastic has U only. Default: U.
	Bound string `json:"bound,omitempty" jsonschema:"enum=U,enum=U+,enum=V,default=U"`
	// Common lets the rule stochastic draw one member for all options. Default:
	// false, one each.
	Common bool `json:"common,omitempty" jsonschema:"default=false"`
	// Horizon says how much later rewards count. Default: gamma is the
	// experiment's discount, or steps are the experiment's if that is 1.
	Horizon *Horizon `json:"horizon,omitempty"`
	// LowerBound is the bound U's: no option is worth less, per step. Default: the
	// lower bound of the environment's rewards, or 0 if that is above 0 and episodes
	// end.
	LowerBound *float64 `json:"lower_bound,omitempty"`
	// Options are the kinds of options to choose from besides the greedy one.
	// Default: members and constants.
	Options []string `json:"options,omitempty" jsonschema:"minItems=1,enum=greedy,enum=members,enum=constants,enum=uniform,enum=overdue,enum=novelty,enum=deviations,enum=repeats"`
	// Window says for how long a chosen option is held.
	Window *Window `json:"window,omitempty"`
}

// Horizon is the weight of later rewards: gamma, steps, or both.
type Horizon struct {
	// Gamma is the discount of a reward one step later.
	Gamma *float64 `json:"gamma,omitempty" jsonschema:"minimum=0,maximum=1"`
	// Steps is the number of rewards that count, from the first of a run on.
	Steps int `json:"steps,omitempty" jsonschema:"minimum=1,maximum=1000000000000"`
}

// Window says for how long a chosen option is held: for the exploration mixing
// time, the number of steps after which a deviation from the greedy policy is
// forgotten.
type Window struct {
	// Estimator is how it is estimated: counts (from the model of the transitions
	// seen), autocorrelation (from how long rewards and observations stay
	// correlated) or auto (counts where observations and actions are discrete, else
	// autocorrelation). Default: auto.
	Estimator string `json:"estimator,omitempty" jsonschema:"enum=auto,enum=counts,enum=autocorrelation,default=auto"`
	// Fixed is the window itself; nothing is estimated then.
	Fixed int `json:"fixed,omitempty" jsonschema:"minimum=1,maximum=1000000000"`
	// Floor is the shortest window. Default: 1.
	Floor int `json:"floor,omitempty" jsonschema:"minimum=1,maximum=1000000000,default=1"`
	// Cap is the longest window. Default: 1000.
	Cap int `json:"cap,omitempty" jsonschema:"minimum=1,maximum=1000000000,default=1000"`
	// Scale multiplies the estimate; the product is rounded up. Default: 1.
	Scale float64 `json:"scale,omitempty" jsonschema:"exclusiveMinimum=0,maximum=1000000000,default=1"`
	// Quantile is which of the mixing times of states and actions is taken by
	// counts, states weighted by their visits; 1 is the largest. Default: 0.9.
	Quantile float64 `json:"quantile,omitempty" jsonschema:"exclusiveMinimum=0,maximum=1,default=0.9"`
	// TV is the distance, in total variation, below which a deviation is
	// forgotten. Default: 0.25.
	TV float64 `json:"tv,omitempty" jsonschema:"minimum=1e-6,maximum=1,default=0.25"`
	// Return charges exploring with the return to the greedy policy, too: not the
	// window's share of the horizon is lost, but that of window and estimate. Default:
	// false.
	Return bool `json:"return,omitempty" jsonschema:"default=false"`
}

// defaultRule compares with the mean. Comparing member by member, which takes in
// that values go together, tends to go on for ever where members fear the greedy
// policy (docs/studies/riverswim.md).
const defaultRule = options.MeanValue

// check says what a schema cannot.
func (x *Exploration) check() error {
	if _, err := x.options(0, 1, 0); err != nil {
		return err
	}
	w := x.Window
	if w == nil {
		return nil
	}
	if w.Fixed > 0 && *w != (Window{Fixed: w.Fixed}) {
		return fieldErrorf("window", "fixed leaves nothing to estimate; remove it, or the other keys of window")
	}
	if w.Cap > 0 && w.Floor > w.Cap {
		return fieldErrorf("window", "floor %d is above cap %d", w.Floor, w.Cap)
	}
	return nil
}

// options returns what package explore needs. discount and steps are the
// experiment's; log is the number of decisions to keep.
func (x *Exploration) options(discount float64, steps, log int) (explore.Options, error) {
	o := explore.Options{LowerBound: x.LowerBound, Log: log}
	o.Rule.Common = x.Common
	var err error
	o.Rule.Score = defaultRule
	if x.Rule != "" {
		if o.Rule.Score, err = options.ParseScore(x.Rule); err != nil {
			return o, At(err, "rule")
		}
	}
	if x.Bound != "" {
		if o.Rule.Kind, err = bandit.ParseIndexKind(x.Bound); err != nil {
			return o, At(err, "bound")
		}
	}
	for i, name := range x.Options {
		k, err := options.ParseKind(name)
		if err != nil {
			return o, At(err, "options", i)
		}
		o.Kinds = append(o.Kinds, k)
	}
	if o.Rule.Horizon, err = x.Horizon.compile(discount, steps); err != nil {
		return o, At(err, "horizon")
	}
	if _, err := options.NewDecider(o.Rule); err != nil {
		return o, At(errors.New(strings.TrimPrefix(err.Error(), "options: ")), "rule")
	}
	if w := x.Window; w != nil {
		o.Window = options.WindowOptions{Fixed: w.Fixed, Floor: w.Floor, Cap: w.Cap, Scale: w.Scale}
		o.Window.Mixing.Eta, o.Window.Return, o.Quantile = w.TV, w.Return, w.Quantile
		if w.Estimator != "" {
			if o.Estimator, err = explore.ParseEstimator(w.Estimator); err != nil {
				return o, At(err, "window", "estimator")
			}
		}
	}
	return o, nil
}

// compile returns the horizon; h may be nil.
func (h *Horizon) compile(discount float64, steps int) (bandit.Horizon, error) {
	switch {
	case h == nil && discount < 1:
		return bandit.Discounted(discount), nil
	case h == nil:
		return bandit.Finite(steps - 1), nil
	case h.Gamma != nil && !(*h.Gamma >= 0 && *h.Gamma <= 1):
		return bandit.Horizon{}, fieldErrorf("gamma", "must be in [0,1], not %v", *h.Gamma)
	case h.Steps < 0:
		return bandit.Horizon{}, fieldErrorf("steps", "must be at least 1, not %d", h.Steps)
	case h.Gamma == nil && h.Steps == 0:
		return bandit.Horizon{}, errors.New("needs gamma or steps")
	case h.Gamma == nil:
		return bandit.Finite(h.Steps - 1), nil
	case h.Steps > 0:
		return bandit.DiscountedFinite(*h.Gamma, h.Steps-1), nil
	case *h.Gamma == 1:
		return bandit.Horizon{}, errors.New("gamma 1 needs steps")
	}
	return bandit.Discounted(*h.Gamma), nil
}

// OpenAgent opens lanes of an agent of the plan for environments of a spec, and tells
// it the steps of a run. If its component has an exploration, the host decides when it
// explores; then an error that wraps ErrExploration is about that.
func (p *Plan) OpenAgent(ctx context.Context, plugin vector.Plugin, c Component, spec framework.Spec, lanes int) (vector.Agent, error) {
	spec.Steps = p.Config.Steps
	agent, err := plugin.OpenAgent(ctx, c.Params, spec, lanes)
	if err != nil || c.Exploration == nil {
		return agent, err
	}
	fail := func(err error) (vector.Agent, error) {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrExploration, err), agent.Close())
	}
	o, err := c.Exploration.options(*p.Config.Discount, p.Config.Steps, *p.Config.Record.Decisions)
	if err != nil {
		return fail(err)
	}
	able, ok := agent.(vector.OptionAgent)
	if !ok {
		return fail(fmt.Errorf("%s offers no options to choose from; remove exploration, and it explores in its own way: %w", c.Plugin, framework.ErrUnsupported))
	}
	explorer, err := explore.New(ctx, able, spec, lanes, o)
	if err != nil {
		return fail(err)
	}
	return explorer, nil
}

// Explores tells whether the host decides for some agent of the plan.
func (p *Plan) Explores() bool {
	return slices.ContainsFunc(p.Agents, func(c Component) bool { return c.Exploration != nil })
}

// ErrExploration is what is wrong with the exploration of a component.
var ErrExploration = errors.New("exploration")

// label names the exploration in the default name of an agent.
func (x *Exploration) label() string {
	rule, bound := x.Rule, x.Bound
	if rule == "" {
		rule = defaultRule.String()
	}
	if bound == "" || rule == options.Never.String() {
		return rule
	}
	return rule + " " + bound
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
	data, err := setParam(data, path, v)
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

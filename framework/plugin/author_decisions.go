package plugin

import (
	"encoding/json"

	"github.com/rlrun/rlrun/framework/params"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/options"
)

// ServeRule is all that the main of a rule's program has to call. See NewRule for the
// arguments and Serve for what happens.
func ServeRule[P any](id, doc string, defaults P, newRule func(p P, spec Spec) (options.Chooser, error)) {
	Serve(NewRule(id, doc, defaults, newRule))
}

// ServeOptions is all that the main of a program of a source of options has to call. See
// NewOptions for the arguments and Serve for what happens.
func ServeOptions[P any](id, doc string, defaults P, newSource func(p P, spec Spec) (options.OptionSource, error)) {
	Serve(NewOptions(id, doc, defaults, newSource))
}

// NewRule makes a plugin of an exploration rule. The arguments are NewEnvironment's, but that
// newRule makes a rule for agents in environments as spec describes them. Its error wraps
// ErrUnsupported if there is none. claims are laws that rlrun plugin check is to hold the rule
// to besides the others, such as rltest.DeltaMonotone.
func NewRule[P any](id, doc string, defaults P, newRule func(p P, spec Spec) (options.Chooser, error), claims ...string) *vector.RulePlugin {
	return &vector.RulePlugin{
		Description: vector.Description{ID: id, Kind: vector.KindRule, Doc: doc, Params: params.Schema(&defaults), Abilities: claims},
		Rule: func(raw json.RawMessage, spec Spec) (options.Chooser, error) {
			p, err := decode(&defaults, raw)
			if err != nil {
				return nil, err
			}
			return newRule(p, spec)
		},
	}
}

// NewOptions makes a plugin of a source of options, as NewRule does.
func NewOptions[P any](id, doc string, defaults P, newSource func(p P, spec Spec) (options.OptionSource, error)) *vector.RulePlugin {
	return &vector.RulePlugin{
		Description: vector.Description{ID: id, Kind: vector.KindOptions, Doc: doc, Params: params.Schema(&defaults)},
		Options: func(raw json.RawMessage, spec Spec) (options.OptionSource, error) {
			p, err := decode(&defaults, raw)
			if err != nil {
				return nil, err
			}
			return newSource(p, spec)
		},
	}
}

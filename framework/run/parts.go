package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/explore"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/vector"
)

// partOpener gives access to a plugin of an exploration: a rule, or a source of options. It
// stays with whom it is from.
type partOpener func(ctx context.Context, c plan.Component) (vector.Plugin, error)

// parts are plugins of explorations that are open, by processKey.
type parts struct {
	open   Opener
	opened map[string]part
}

type part struct {
	opened
	component plan.Component
}

// lend is a partOpener.
func (p *parts) lend(ctx context.Context, c plan.Component) (vector.Plugin, error) {
	if o, ok := p.opened[processKey(c)]; ok {
		return o.plugin, nil
	}
	plugin, closePlugin, err := p.open(ctx, c)
	if err != nil {
		return nil, err
	}
	if p.opened == nil {
		p.opened = map[string]part{}
	}
	p.opened[processKey(c)] = part{opened{plugin, closePlugin}, c}
	return plugin, nil
}

// close ends them. Errors of what is ending change no result.
func (p *parts) close() {
	for key, o := range p.opened {
		_ = o.close()
		delete(p.opened, key)
	}
}

// openParts fills in the rule and the sources of options of o that are of plugins and files.
func openParts(ctx context.Context, part partOpener, x *plan.Exploration, spec framework.Spec, o *explore.Config) (err error) {
	open := func(c plan.Component, kind vector.Kind) (vector.DecisionPlugin, error) {
		p, err := part(ctx, c)
		if err != nil {
			return nil, &startError{err}
		}
		d, err := p.Describe(ctx)
		if err != nil {
			return nil, err
		}
		decides, ok := p.(vector.DecisionPlugin)
		if d.Kind != kind || !ok {
			return nil, fmt.Errorf("plugin %s is of kind %s, not %s: %w", c.Plugin, d.Kind, kind, framework.ErrUnsupported)
		}
		return decides, nil
	}
	fail := func(err error, path ...any) error { return plan.At(errors.Join(err, o.Close()), path...) }
	if c := x.RulePlugin(); c != nil {
		p, err := open(*c, vector.KindRule)
		if err != nil {
			return fail(err, "rule")
		}
		if o.Rule, err = p.OpenRule(ctx, c.Params, spec); err != nil {
			if errors.Is(err, framework.ErrInvalidParams) {
				return fail(err, "params")
			}
			return fail(err, "rule")
		}
	}
	next := 0 // in o.Sources, which are in the order of x.Options
	for i, k := range x.Options {
		if next == len(o.Sources) || o.Sources[next].File != k.Name {
			continue // a kind of rlrun's own
		}
		s := &o.Sources[next]
		next++
		if s.Source != nil { // one of rlrun's own
			continue
		}
		c := k.Source()
		if c == nil {
			if s.Fixed, err = readOptions(s.File, spec); err != nil {
				return fail(err, "options", i)
			}
			continue
		}
		p, err := open(*c, vector.KindOptions)
		if err == nil {
			s.Source, err = p.OpenOptions(ctx, c.Params, spec)
		}
		if errors.Is(err, framework.ErrInvalidParams) {
			return fail(err, "options", i, "params")
		}
		if err != nil {
			return fail(err, "options", i)
		}
	}
	return nil
}

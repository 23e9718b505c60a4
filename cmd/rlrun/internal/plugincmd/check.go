package plugincmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/cmd/rlrun/config"
	"github.com/rlrun/rlrun/framework/experiment"
	"github.com/rlrun/rlrun/framework/rltest"
	"github.com/rlrun/rlrun/framework/vector"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

// verdict is the answer of rlrun plugin check for machines.
type verdict struct {
	Plugin     string      `json:"plugin"`
	ID         string      `json:"id"`
	Kind       vector.Kind `json:"kind"`
	OK         bool        `json:"ok"`
	Violations []violation `json:"violations"`
	Speed      []speed     `json:"speed"` // of a plugin that keeps every rule
}

type violation struct {
	Rule  rltest.Rule `json:"rule"`
	Error string      `json:"error"`
}

func newCheck(app *host.App) *cobra.Command {
	var asJSON bool
	var params []string
	var transport string
	cmd := &cobra.Command{
		Use:   "check NAME [-- ARGS...]",
		Short: "Check that a plugin keeps the rules",
		Long: `Run the conformance suite (package framework/rltest) over a plugin: same seed,
same episode; observations and actions in their spaces; finite rewards; lanes
that do not depend on each other; and so on. A rule that could not be tried
counts as broken. Agents are checked on every kind of environment that they
support. Status 1 if a rule is broken.

A plugin that keeps every rule is then timed: the wall time of a step with
several numbers of lanes together, divided by that number.

--json: plugin, id, kind, ok, violations (a list of {rule, error}), speed (a list
of {lanes, ns_per_step}).`,
		Example: "  rlrun plugin check bernoulli-bandit --param arms=3\n  rlrun plugin check ./rlrun-plugin-grid\n  rlrun plugin check python -- grid.py",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Arguments(1, "the name of a plugin")(cmd, args)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			comp := experiment.Component{Plugin: args[0], Args: args[1:], Transport: experiment.Transport(transport)}
			v, err := check(app, cmd.Context(), comp, params)
			if err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			switch {
			case asJSON:
				err = cli.WriteJSON(w, v)
			case v.OK:
				_, err = fmt.Fprintf(w, "%s (%s, %s) keeps every rule.\n%s", v.Plugin, v.ID, v.Kind, speedTable(v.Speed))
			}
			if err != nil || v.OK {
				return err
			}
			text := fmt.Sprintf("%s (%s, %s) breaks %d %s:", v.Plugin, v.ID, v.Kind, len(v.Violations), cli.Plural(len(v.Violations), "rule", "rules"))
			for _, b := range v.Violations {
				text += "\n" + b.Error
			}
			return errors.New(text)
		},
		ValidArgsFunction: app.CompletePlugin,
	}
	fs := cmd.Flags()
	fs.StringArrayVar(&params, "param", nil, "set a parameter of the plugin, `KEY=VALUE`; may be repeated")
	fs.StringVar(&transport, "transport", "", "how it is called, `T` being inprocess or process (default as in a config)")
	app.TimeoutFlag(fs)
	app.ReplaceFlag(fs)
	fs.BoolVar(&asJSON, "json", false, "print JSON")
	cli.Must(cmd.RegisterFlagCompletionFunc("transport", host.CompleteTransport))
	return cmd
}

// checkTransport refuses a transport that there is none of.
func checkTransport(t experiment.Transport) error {
	if t != "" && t != experiment.InProcess && t != experiment.Process {
		return cli.Usagef("--transport must be inprocess or process, not %q", t)
	}
	return nil
}

// check runs the conformance suite.
func check(app *host.App, ctx context.Context, comp experiment.Component, params []string) (verdict, error) {
	v := verdict{Plugin: comp.Plugin, Violations: []violation{}, Speed: []speed{}}
	if err := checkTransport(comp.Transport); err != nil {
		return v, err
	}
	p, closePlugin, err := app.OpenPlugin(ctx, comp)
	if err != nil {
		return v, err
	}
	defer closePlugin()
	d, err := p.Describe(ctx)
	if err != nil {
		return v, err
	}
	v.ID, v.Kind = d.ID, d.Kind
	raw, err := config.Params(params, d.Params)
	if err != nil {
		return v, err
	}
	found := rltest.CheckPlugin(ctx, p, raw)
	if cause := context.Cause(ctx); cause != nil {
		return v, cause
	}
	v.OK = found == nil
	if v.OK {
		v.Speed, err = speeds(ctx, p, d.Kind, raw)
		return v, err
	}
	for _, e := range leaves(found) {
		b := violation{Error: e.Error()}
		if rules := rltest.Broken(e); len(rules) > 0 {
			b.Rule = rules[0]
		}
		v.Violations = append(v.Violations, b)
	}
	return v, nil
}

// leaves returns the errors that were joined, each with what was said around it.
func leaves(err error) []error {
	if err == nil {
		return nil
	}
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		var out []error
		for _, inner := range e.Unwrap() {
			out = append(out, leaves(inner)...)
		}
		return out
	case *rltest.Violation:
		return []error{e}
	}
	inner := errors.Unwrap(err)
	parts := leaves(inner)
	if len(parts) < 2 {
		return []error{err}
	}
	prefix := err.Error()[:max(0, len(err.Error())-len(inner.Error()))]
	out := make([]error, len(parts))
	for i, part := range parts {
		out[i] = fmt.Errorf("%s%w", prefix, part)
	}
	return out
}

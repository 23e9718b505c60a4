package plugincmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/cmd/rlrun/config"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/each"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

// New returns the command rlrun plugin.
func New(app *host.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugin",
		Short: "List, inspect, check and write environments and agents",
		Long: `Environments and agents are plugins. Bundled plugins run inside rlrun or, with
transport: process, as subprocesses. All others are separate programs.

Configs and commands name a plugin by
  NAME             a bundled plugin; or the executable rlrun-plugin-NAME in
                   $RLRUN_PLUGIN_PATH or $PATH
  a path           an executable
  a command line   such as "python grid.py"
  gymnasium:ID     an environment of Gymnasium; python3, or the interpreter that
                   $RLRUN_PYTHON names, needs the package rlrun`,
		Example: "  rlrun plugin list\n  rlrun plugin inspect bernoulli-bandit",
	}
	return cli.Group(cmd, newList(app), newInspect(app), newCheck(app), newPlay(app), newNew(app), newLock(app), newServe(app))
}

func newList(app *host.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List bundled and installed plugins",
		Long: `List the bundled plugins, and the executables with a plugin's name. The executables
are not started: rlrun plugin inspect NAME describes one.

--json: a list of {name, bundled, command, args, replaced, id, kind, doc}. Executables
have command and args, bundled plugins id, kind and doc. replaced is true if --replace
names the plugin.`,
		Example: "  rlrun plugin list\n  rlrun plugin list --json",
		Args:    cli.Arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := app.Catalogue()
			if err != nil {
				return err
			}
			names := each.Of(c.Search.List(), func(f plugin.Found) string { return f.Name })
			if err := app.ApplyReplacements(c, "the list", names); err != nil {
				return err
			}
			entries, err := list(c, cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), entries)
			}
			var t cli.Table
			for _, e := range entries {
				if e.Bundled {
					t.Row(e.Name, string(e.Kind), e.Doc)
				} else {
					t.Row(e.Name, "program", e.Command)
				}
			}
			_, err = io.WriteString(cmd.OutOrStdout(), t.Text(cli.Width(cmd.OutOrStdout())))
			return err
		},
	}
	app.ReplaceFlag(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// listed is a line of rlrun plugin list.
type listed struct {
	plugin.Found
	Replaced bool        `json:"replaced,omitempty"` // it is in that plugin's place by --replace
	ID       string      `json:"id,omitempty"`
	Kind     vector.Kind `json:"kind,omitempty"`
	Doc      string      `json:"doc,omitempty"`
}

func list(c *host.Catalogue, ctx context.Context) ([]listed, error) {
	var out []listed
	for _, f := range c.Search.List() {
		e := listed{Found: f}
		served := f.Name
		if path := c.Replaced[f.Name]; path != "" {
			found, err := c.Search.Resolve(path)
			if err != nil {
				return nil, err
			}
			e.Found, e.Name, e.Replaced, served = found, f.Name, true, found.Name
		}
		if e.Bundled {
			d, err := c.Bundled[served].Describe(ctx)
			if err != nil {
				return nil, err
			}
			e.ID, e.Kind, e.Doc = d.ID, d.Kind, d.Doc
		}
		out = append(out, e)
	}
	return out, nil
}

// inspected is what a plugin says of itself.
type inspected struct {
	vector.Description
	Facts       map[string]string `json:"facts,omitempty"`
	Saved       string            `json:"saved,omitempty"`
	Observation json.RawMessage   `json:"observation,omitempty"`
	Action      json.RawMessage   `json:"action,omitempty"`

	spec   framework.Spec // of an environment
	closed error          // why it has no spec
}

// describe opens a plugin for long enough to ask what it is, and for the facts that it states.
// then, unless nil, is called before it is closed.
func describe(app *host.App, ctx context.Context, name string, args []string, then func(vector.Plugin, *inspected) error) (x inspected, err error) {
	p, closePlugin, err := app.OpenPlugin(ctx, plan.Component{Plugin: name, Args: args})
	if err != nil {
		return x, err
	}
	if err := app.CheckTimeout(""); err != nil {
		return x, errors.Join(err, closePlugin())
	}
	x.Description, err = p.Describe(ctx)
	if process, ok := p.(store.Process); ok && err == nil {
		var sources map[string]string
		sources, err = process.Sources(ctx)
		x.Facts = map[string]string{}
		for source, value := range sources {
			if name, ok := strings.CutPrefix(source, "fact "); ok {
				x.Facts[name] = value
			}
		}
	}
	if x.Saved = saved(x.Description); err == nil && then != nil {
		err = then(p, &x)
	}
	return x, cmp.Or(err, closePlugin())
}

// open asks an environment for its spaces.
func (x *inspected) open(ctx context.Context, p vector.Plugin, params []string) error {
	raw, err := config.Params(params, x.Params)
	if err != nil {
		return err
	}
	env, err := p.OpenEnvironment(ctx, raw, 1)
	if err != nil {
		return err
	}
	x.spec = env.Spec()
	if x.Observation, err = space.Marshal(x.spec.Observation); err == nil {
		x.Action, err = space.Marshal(x.spec.Action)
	}
	return errors.Join(err, env.Close())
}

func newInspect(app *host.App) *cobra.Command {
	var asJSON bool
	var params []string
	cmd := &cobra.Command{
		Use:   "inspect NAME [-- ARGS...]",
		Short: "Print the description and the parameters of a plugin",
		Long: `Print the description of a plugin: its id, whether it is an environment or an
agent, its optional abilities, the facts that bind its runs, and its parameters
with ranges and defaults. An environment is opened for its spaces of observations and
actions, with the parameters that --param gives.

--json: {id, kind, doc, params, abilities, facts, saved, requires, observation, action};
params is a JSON schema, saved says that saved agents are pickles, and the last two are
spaces.`,
		Example: "  rlrun plugin inspect bernoulli-bandit --param arms=3\n  rlrun plugin inspect python -- grid.py\n  rlrun plugin inspect ./rlrun-plugin-grid --json",
		Args:    cli.AtLeastOne("the name of a plugin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			x, err := describe(app, cmd.Context(), args[0], args[1:], func(p vector.Plugin, x *inspected) error {
				switch {
				case x.Kind == vector.KindEnvironment:
					x.closed = x.open(cmd.Context(), p, params)
				case len(params) > 0:
					return cli.Usagef("--param is for the spaces of an environment, and %s is of the kind %s", args[0], x.Kind)
				}
				if len(params) > 0 {
					return x.closed
				}
				return nil
			})
			if err != nil {
				return err
			}
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), x)
			}
			return printDescription(cmd.OutOrStdout(), &x)
		},
		ValidArgsFunction: app.CompletePlugin,
	}
	cmd.Flags().StringArrayVar(&params, "param", nil, "set a parameter of the environment, `KEY=VALUE`; may be repeated")
	app.TimeoutFlag(cmd.Flags())
	app.ReplaceFlag(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// newServe is how rlrun starts itself as the process of a bundled plugin.
func newServe(app *host.App) *cobra.Command {
	return &cobra.Command{
		Use:    "serve NAME",
		Short:  "Serve a bundled plugin to the rlrun that started this process",
		Hidden: true,
		Args:   cli.Arguments(1, "the name of a bundled plugin"),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := app.Catalogue()
			if err != nil {
				return err
			}
			p, ok := c.Bundled[args[0]]
			if !ok {
				return cli.Usagef("%s is not bundled; bundled are %s", args[0], strings.Join(slices.Sorted(maps.Keys(c.Bundled)), ", "))
			}
			plugin.Serve(p)
			return nil
		},
	}
}

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/experiment"
	"github.com/rlrun/rlrun/framework/plugin"
)

func newPlugin(app *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugin",
		Short: "List, inspect and check environments and agents",
		Long: `Environments and agents are plugins. The bundled ones are called in process or,
with transport: process, as subprocesses; all others are programs of their own.

In a config, and here, a plugin is named by the name of a bundled one, by NAME
for an executable rlrun-plugin-NAME in $RLRUN_PLUGIN_PATH, in rlrun/plugins of
the user's data folder or in $PATH, by the path of an executable, or by a
command such as "python grid.py".`,
		Example: "  rlrun plugin list\n  rlrun plugin inspect bernoulli-bandit",
		Args:    subcommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPluginList(app), newPluginInspect(app), newPluginCheck(app), newPluginServe(app))
	return cmd
}

func newPluginList(app *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the plugins that can be named",
		Long: `List the bundled plugins, and the executables that a name stands for. These are
not started: rlrun plugin inspect NAME says what one is.

--json: a list of {name, bundled, command, id, kind, doc}; command is of
executables only, id, kind and doc of bundled plugins only.`,
		Example: "  rlrun plugin list\n  rlrun plugin list --json",
		Args:    arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := app.catalogue()
			if err != nil {
				return err
			}
			entries, err := c.list(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), entries)
			}
			var t table
			for _, e := range entries {
				if e.Bundled {
					t.row(e.Name, string(e.Kind), e.Doc)
				} else {
					t.row(e.Name, "program", e.Command)
				}
			}
			_, err = io.WriteString(cmd.OutOrStdout(), t.String())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for machines")
	return cmd
}

// listed is a line of rlrun plugin list.
type listed struct {
	plugin.Found
	ID   string         `json:"id,omitempty"`
	Kind framework.Kind `json:"kind,omitempty"`
	Doc  string         `json:"doc,omitempty"`
}

func (c *catalogue) list(ctx context.Context) ([]listed, error) {
	var out []listed
	for _, f := range c.search.List() {
		e := listed{Found: f}
		if f.Bundled {
			d, err := c.bundled[f.Name].Describe(ctx)
			if err != nil {
				return nil, err
			}
			e.ID, e.Kind, e.Doc = d.ID, d.Kind, d.Doc
		}
		out = append(out, e)
	}
	return out, nil
}

// describe opens a plugin for long enough to ask what it is.
func (app *app) describe(ctx context.Context, name string, args []string) (framework.Description, error) {
	c, err := app.catalogue()
	if err != nil {
		return framework.Description{}, err
	}
	comp := experiment.Component{Plugin: name, Args: args}
	if _, _, err := c.how(comp); err != nil {
		return framework.Description{}, usage{err}
	}
	p, closePlugin, err := c.open(ctx, comp)
	if err != nil {
		return framework.Description{}, err
	}
	d, err := p.Describe(ctx)
	if closeErr := closePlugin(); err == nil {
		err = closeErr
	}
	return d, err
}

func newPluginInspect(app *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "inspect NAME [-- ARGS...]",
		Short: "Print what a plugin says of itself, and its parameters",
		Long: `Print what a plugin says of itself: its id, whether it is an environment or an
agent, its optional capabilities, and its parameters with ranges and defaults.

--json: {id, kind, doc, params, capabilities}; params is a JSON schema.`,
		Example: "  rlrun plugin inspect bernoulli-bandit\n  rlrun plugin inspect python -- grid.py\n  rlrun plugin inspect ./rlrun-plugin-grid --json",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return arguments(1, "the name of a plugin")(cmd, args)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := app.describe(cmd.Context(), args[0], args[1:])
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), d)
			}
			return printDescription(cmd.OutOrStdout(), d)
		},
		ValidArgsFunction: app.completePlugin,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for machines")
	return cmd
}

// completePlugin completes the name of a plugin.
func (app *app) completePlugin(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	c, err := app.catalogue()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for _, f := range c.search.List() {
		names = append(names, f.Name)
	}
	return names, cobra.ShellCompDirectiveDefault
}

func printDescription(w io.Writer, d framework.Description) error {
	fmt.Fprintf(w, "%s, %s\n%s\n", d.ID, d.Kind, d.Doc)
	if len(d.Capabilities) > 0 {
		fmt.Fprintf(w, "Capabilities: %s\n", strings.Join(d.Capabilities, ", "))
	}
	params, err := readParams(d.Params)
	if err != nil {
		return fmt.Errorf("%s describes its parameters with a schema that is not valid: %w", d.ID, err)
	}
	if len(params) == 0 {
		_, err := fmt.Fprintln(w, "\nNo parameters.")
		return err
	}
	fmt.Fprintln(w, "\nParameters:")
	columns := cmp.Or(width(w), 100)
	indented := func(s string) string {
		var b strings.Builder
		for line := range strings.SplitSeq(text.WrapSoft(s, columns-6), "\n") {
			b.WriteString("      " + strings.TrimRight(line, " ") + "\n")
		}
		return b.String()
	}
	for _, p := range params {
		fmt.Fprintf(w, "  %s\n", p.path)
		if v := p.values(); v != "" {
			io.WriteString(w, indented(v))
		}
		if p.Description != "" {
			io.WriteString(w, indented(p.Description))
		}
	}
	return nil
}

// param is a parameter in a schema.
type param struct {
	path     string
	required bool

	Type             string            `json:"type"`
	Description      string            `json:"description"`
	Default          any               `json:"default"`
	Enum             []any             `json:"enum"`
	Const            any               `json:"const"`
	Minimum          *json.Number      `json:"minimum"`
	Maximum          *json.Number      `json:"maximum"`
	ExclusiveMinimum *json.Number      `json:"exclusiveMinimum"`
	ExclusiveMaximum *json.Number      `json:"exclusiveMaximum"`
	Items            *param            `json:"items"`
	Properties       json.RawMessage   `json:"properties"`
	Required         []string          `json:"required"`
	Ref              string            `json:"$ref"`
	Defs             map[string]*param `json:"$defs"`
}

// readParams lists the parameters of a schema in its order, inner ones as a.b.
func readParams(schema json.RawMessage) ([]param, error) {
	if len(schema) == 0 {
		return nil, nil
	}
	var root param
	if err := json.Unmarshal(schema, &root); err != nil {
		return nil, err
	}
	var out []param
	return out, root.walk(&root, "", 0, &out)
}

func (p *param) walk(root *param, path string, depth int, out *[]param) error {
	if name, ok := strings.CutPrefix(p.Ref, "#/$defs/"); ok && root.Defs[name] != nil {
		d := *root.Defs[name]
		if p.Description != "" {
			d.Description = p.Description
		}
		d.path, d.required = p.path, p.required
		p = &d
	}
	if path != "" {
		p.path = path
		*out = append(*out, *p)
		path += "."
	}
	if len(p.Properties) == 0 || depth > 8 {
		return nil
	}
	names, properties, err := ordered(p.Properties)
	if err != nil {
		return err
	}
	for _, name := range names {
		inner := properties[name]
		inner.required = slices.Contains(p.Required, name)
		if err := inner.walk(root, path+name, depth+1, out); err != nil {
			return err
		}
	}
	return nil
}

// ordered decodes an object of parameters and lists its keys in the order
// written.
func ordered(object json.RawMessage) ([]string, map[string]*param, error) {
	properties := map[string]*param{}
	if err := json.Unmarshal(object, &properties); err != nil {
		return nil, nil, err
	}
	var names []string
	dec := json.NewDecoder(strings.NewReader(string(object)))
	if _, err := dec.Token(); err != nil {
		return nil, nil, err
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, nil, err
		}
		names = append(names, fmt.Sprint(key))
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			return nil, nil, err
		}
	}
	return names, properties, nil
}

// values says what a parameter may be.
func (p *param) values() string {
	var words []string
	switch {
	case p.Const != nil:
		words = append(words, fmt.Sprint(p.Const))
	case len(p.Enum) > 0:
		var list []string
		for _, e := range p.Enum {
			list = append(list, fmt.Sprint(e))
		}
		words = append(words, strings.Join(list, " | "))
	case p.Type == "array" && p.Items != nil && p.Items.Type != "":
		words = append(words, "list of "+p.Items.Type)
	case p.Type == "object":
		words = append(words, "mapping")
	case p.Type != "":
		words = append(words, p.Type)
	}
	for _, b := range []struct {
		sign  string
		bound *json.Number
	}{{"≥", p.Minimum}, {">", p.ExclusiveMinimum}, {"≤", p.Maximum}, {"<", p.ExclusiveMaximum}} {
		if b.bound != nil {
			words = append(words, b.sign+" "+b.bound.String())
		}
	}
	out := strings.Join(words, " ")
	switch {
	case p.required:
		out += ", required"
	case p.Default != nil:
		out += fmt.Sprintf(", default %v", p.Default)
	}
	return strings.TrimPrefix(out, ", ")
}

// newPluginServe is how rlrun starts itself as the process of a bundled plugin.
func newPluginServe(app *app) *cobra.Command {
	return &cobra.Command{
		Use:    "serve NAME",
		Short:  "Serve a bundled plugin to the rlrun that started this process",
		Hidden: true,
		Args:   arguments(1, "the name of a bundled plugin"),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := app.catalogue()
			if err != nil {
				return err
			}
			p, ok := c.bundled[args[0]]
			if !ok {
				return usagef("%s is not bundled; bundled are %s", args[0], strings.Join(slices.Sorted(maps.Keys(c.bundled)), ", "))
			}
			plugin.Serve(p)
			return nil
		},
	}
}

package main

import (
	"encoding/json"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rlrun/rlrun/cmd/rlrun/config"
	"github.com/rlrun/rlrun/framework"
)

const overview = `rlrun answers when it is worth exploring.

It runs experiments of reinforcement-learning agents in environments, both of
which may be plugins in any language, and keeps every run; and it works out the
exploration threshold, which ties planning horizon, uncertainty and the cost of
exploring together.

Every command has --json for machines, with the keys that its help documents.
Exit status: 0; 1 if a run failed; 2 for bad usage or a bad config; 130 if
interrupted.`

const overviewExample = `  rlrun run configs/quickstart.yaml
  rlrun threshold --belief beta:3,4 --against 0.6 --gamma 0.99
  rlrun plugin list`

// app is what the commands share.
type app struct {
	args    []string // of the command line
	bundled []framework.Plugin
	log     string // level of the log
	stderr  io.Writer
	timeout time.Duration // of plugins' processes; 0: the default
	dev     []string      // what --dev puts in a plugin's place, NAME=PATH each
}

// catalogue returns the plugins there are.
func (app *app) catalogue() (*catalogue, error) {
	level := hclog.LevelFromString(app.log)
	if level == hclog.NoLevel {
		return nil, usagef("--log must be off, error, warn, info, debug or trace, not %q", app.log)
	}
	if app.timeout < 0 {
		return nil, usagef("--timeout must be positive, not %v", app.timeout)
	}
	c, err := newCatalogue(app.bundled, hclog.New(&hclog.LoggerOptions{Name: "rlrun", Level: level, Output: app.stderr}))
	if err == nil && app.timeout > 0 {
		c.limits.Start, c.limits.Call = app.timeout.String(), app.timeout.String()
	}
	return c, err
}

// newRoot returns the command tree.
func newRoot(app *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "rlrun",
		Short:         "When is it worth exploring?",
		Long:          overview,
		Example:       overviewExample,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          subcommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddGroup(
		&cobra.Group{ID: "experiments", Title: "Experiments:"},
		&cobra.Group{ID: "questions", Title: "Questions:"},
		&cobra.Group{ID: "plugins", Title: "Environments and agents:"},
	)
	for group, commands := range map[string][]*cobra.Command{
		"experiments": {newRun(app), newReport()},
		"questions":   {newThreshold(), newMDP(app)},
		"plugins":     {newPlugin(app), newSchema(app)},
		"":            {newVersion()},
	} {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	log := "off"
	if level, ok := os.LookupEnv("RLRUN_LOG"); ok && level != "" {
		log = level
	}
	root.PersistentFlags().StringVar(&app.log, "log", log, "how much plugins log to stderr, `LEVEL` being off, error, warn, info, debug or trace (RLRUN_LOG)")
	root.SetFlagErrorFunc(flagError)
	return root
}

// must is for mistakes of the program, not of its user.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// subcommand refuses arguments that name no command.
func subcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	hint := ""
	if c := config.Closest(args[0], names); c != "" {
		hint = "; did you mean " + c + "?"
	}
	return usagef("%s has no command %q%s (see %s --help)", cmd.CommandPath(), args[0], hint, cmd.CommandPath())
}

var badValue = regexp.MustCompile(`^invalid argument (".*") for "(?:-., )?--([a-z-]+)" flag: `)

// flagError makes one line of pflag's errors.
func flagError(cmd *cobra.Command, err error) error {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "unknown flag: --"); ok {
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		if c := config.Closest(name, known); c != "" {
			text += "; did you mean --" + c + "?"
		}
	}
	if m := badValue.FindStringSubmatch(text); m != nil {
		kind := map[string]string{"float64": "a number", "int": "a whole number", "bool": "true or false", "duration": "a time such as 10s"}
		if f := cmd.Flags().Lookup(m[2]); f != nil && kind[f.Value.Type()] != "" {
			return usagef("--%s must be %s, not %s (see %s --help)", m[2], kind[f.Value.Type()], m[1], cmd.CommandPath())
		}
	}
	return usagef("%s (see %s --help)", text, cmd.CommandPath())
}

// arguments checks the number of arguments; names say what they are.
func arguments(least int, names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usagef("%s needs %s (see %s --help)", cmd.CommandPath(), names[len(args)], cmd.CommandPath())
		case len(args) > len(names):
			return usagef("%s: what is %q for? (see %s --help)", cmd.CommandPath(), args[len(names)], cmd.CommandPath())
		}
		return nil
	}
}

// writeJSON writes an answer for machines.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

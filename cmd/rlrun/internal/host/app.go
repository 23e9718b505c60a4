// Package host finds the plugins that a command names and opens them.
package host

import (
	"io"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/vector"
)

// App is what all commands know of the command line, and the plugins that ship.
type App struct {
	Args    []string               // of the command line, without the program's name
	Bundled func() []vector.Plugin // makes the plugins that ship: milliseconds, which many commands do without
	Stderr  io.Writer              // for the log and what plugins write to theirs

	Log     string        // level of the log
	Timeout time.Duration // of plugins' processes; 0: the default
	Replace []string      // what --replace puts in a plugin's place, NAME=PATH each
	Trust   bool          // programs that a results directory names, and pickled agents

	bytecode bytecode
	remote   bool // a plugin that the command named is called in a process of its own
}

// Close removes what the command kept for its plugins.
func (app *App) Close() { app.bytecode.close() }

// Catalogue returns the plugins that can be named.
func (app *App) Catalogue() (*Catalogue, error) {
	level := hclog.LevelFromString(app.Log)
	if level == hclog.NoLevel {
		return nil, cli.Usagef("--log (RLRUN_LOG) must be off, error, warn, info, debug or trace, not %q", app.Log)
	}
	if app.Timeout < 0 {
		return nil, cli.Usagef("--timeout must be positive, not %v", app.Timeout)
	}
	c, err := NewCatalogue(app.Bundled(), hclog.New(&hclog.LoggerOptions{Name: "rlrun", Level: level, Output: app.Stderr}))
	if err == nil {
		c.bytecode, c.trust = &app.bytecode, app.Trust
	}
	if err == nil && app.Timeout > 0 {
		c.limits.Start, c.limits.Open, c.limits.Call = app.Timeout.String(), app.Timeout.String(), app.Timeout.String()
	}
	return c, err
}

// TimeoutFlag adds --timeout to a command.
func (app *App) TimeoutFlag(fs *pflag.FlagSet) {
	fs.DurationVar(&app.Timeout, "timeout", 0, "time limit of the plugin's process to start, open or answer, a `TIME` such as 1h under a debugger (default 30s, and 5m to open)")
}

// CheckTimeout refuses --timeout once plugins are known, if none has a process. or says what else there is to do.
func (app *App) CheckTimeout(or string) error {
	if app.Timeout > 0 && !app.remote {
		return cli.Usagef("--timeout has no effect, as every plugin is called in rlrun's own process: leave it out%s", or)
	}
	return nil
}

// trustVariable is set for plugins if the user trusts saved agents whose reading runs code.
const trustVariable = "RLRUN_TRUST"

// TrustFlag adds --trust to a command.
func (app *App) TrustFlag(fs *pflag.FlagSet) {
	fs.BoolVar(&app.Trust, "trust", false, "start programs that a directory of results names, and read pickled agents, which run code")
}

// CompletePlugin completes the name of a plugin.
func (app *App) CompletePlugin(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	c, err := app.Catalogue()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for _, f := range c.Search.List() {
		names = append(names, f.Name)
	}
	return names, cobra.ShellCompDirectiveDefault
}

// CompleteTransport completes the name of a transport.
func CompleteTransport(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{string(plan.InProcess), string(plan.Process)}, cobra.ShellCompDirectiveNoFileComp
}

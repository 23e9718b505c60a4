package host

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/run"
	"github.com/rlrun/rlrun/framework/vector"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
)

// ReplaceFlag adds --replace, which lets a command's user put plugins under development in the
// place of others. Every command that starts plugins has it.
func (app *App) ReplaceFlag(fs *pflag.FlagSet) {
	fs.StringArrayVar(&app.Replace, "replace", nil, "replace the plugin NAME by the program PATH, `NAME=PATH`, without the lock file; may be repeated")
}

// ApplyReplacements does what the --replace flags say, NAME=PATH each, and warns of it.
// where names the plugins that can be replaced.
func (app *App) ApplyReplacements(c *Catalogue, where string, names []string) error {
	c.Replaced = map[string]string{}
	for _, expr := range app.Replace {
		name, path, ok := strings.Cut(expr, "=")
		if !ok || name == "" || path == "" {
			return cli.Usagef("--replace %s: must be NAME=PATH, such as grid=./grid", expr)
		}
		if !slices.Contains(names, name) {
			return cli.Usagef("--replace %s: %s names no plugin %s%s", expr, where, name, cli.Suggest(name, names, ""))
		}
		if _, err := c.Search.Resolve(path); err != nil {
			return cli.Usagef("--replace %s: %w", expr, err)
		}
		c.Replaced[name] = path
		lock := ""
		if c.pins != nil {
			lock = "; " + c.lock + " is not asked about it"
		}
		fmt.Fprintf(app.Stderr, "rlrun: warning: --replace: plugin %s is %s%s\n", name, path, lock)
	}
	return nil
}

// OpenPlugin opens the one plugin that a command is about.
func (app *App) OpenPlugin(ctx context.Context, comp plan.Component) (vector.Plugin, func() error, error) {
	c, err := app.CatalogueFor(comp)
	if err != nil {
		return nil, nil, err
	}
	return c.Open(ctx, comp)
}

// OpenFrom returns how the plugins are opened that a results directory names. Those are held
// to the lock file of this directory.
func (app *App) OpenFrom(dir string) run.Opener {
	return func(ctx context.Context, comp plan.Component) (vector.Plugin, func() error, error) {
		c, err := app.Catalogue()
		if err == nil {
			err = c.UseLock("", "-")
		}
		if err != nil {
			return nil, nil, err
		}
		c.From(dir)
		_, transport, err := c.Resolve(comp)
		if err != nil {
			return nil, nil, err
		}
		app.remote = app.remote || transport == plan.Process
		return c.Open(ctx, comp)
	}
}

// CatalogueFor returns the plugins for a command about one of them.
func (app *App) CatalogueFor(comp plan.Component) (*Catalogue, error) {
	c, err := app.Catalogue()
	if err != nil {
		return nil, err
	}
	if err := app.ApplyReplacements(c, "the command", []string{comp.Plugin}); err != nil {
		return nil, err
	}
	if app.remote, err = c.Remote(comp); err != nil {
		return nil, cli.Usage(err)
	}
	return c, nil
}

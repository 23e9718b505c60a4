package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rlrun/rlrun/cmd/rlrun/config"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/experiment"
)

// devFlag lets a command's user put plugins under development in the place of
// others. Every command that starts plugins has it.
func (app *app) devFlag(fs *pflag.FlagSet) {
	fs.StringArrayVar(&app.dev, "dev", nil, "put a plugin of your own in another's place, `NAME=PATH`, whatever a lock file says; may be repeated")
}

// develop does what the --dev flags say, NAME=PATH each, and warns of it. where
// names the plugins that there are to replace.
func (app *app) develop(c *catalogue, where string, names []string) error {
	c.dev = map[string]string{}
	for _, expr := range app.dev {
		name, path, ok := strings.Cut(expr, "=")
		if !ok || name == "" || path == "" {
			return usagef("--dev %s: must be NAME=PATH, such as grid=./grid", expr)
		}
		if !slices.Contains(names, name) {
			hint := ""
			if near := config.Closest(name, names); near != "" {
				hint = "; did you mean " + near + "?"
			}
			return usagef("--dev %s: %s names no plugin %s%s", expr, where, name, hint)
		}
		if _, err := c.search.Resolve(path); err != nil {
			return usagef("--dev %s: %w", expr, err)
		}
		c.dev[name] = path
		lock := ""
		if c.pins != nil {
			lock = "; " + c.lock + " is not asked"
		}
		fmt.Fprintf(app.stderr, "rlrun: warning: --dev: plugin %s is %s%s\n", name, path, lock)
	}
	return nil
}

// openPlugin opens the one plugin that a command is about.
func (app *app) openPlugin(ctx context.Context, comp experiment.Component) (framework.Plugin, func() error, error) {
	c, err := app.catalogue()
	if err != nil {
		return nil, nil, err
	}
	if err := app.develop(c, "the command", []string{comp.Plugin}); err != nil {
		return nil, nil, err
	}
	if _, _, err := c.how(comp); err != nil {
		return nil, nil, usage{err}
	}
	return c.open(ctx, comp)
}

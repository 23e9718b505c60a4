package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rlrun/rlrun/cmd/rlrun/config"
	"github.com/rlrun/rlrun/framework/experiment"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/result"
)

// lockName is the name of lock files.
const lockName = "rlrun.lock.yaml"

// useLock takes up the lock file that a run is held to: the one that is named, or
// one beside the config, or one in this folder, or none.
func (c *catalogue) useLock(named, configName string) error {
	candidates := []string{named}
	if named == "" {
		candidates = []string{lockName}
		if beside := filepath.Join(filepath.Dir(configName), lockName); configName != "-" && beside != lockName {
			candidates = []string{beside, lockName}
		}
	}
	for _, path := range candidates {
		pins, err := plugin.ReadPins(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return usage{err}
		}
		c.lock, c.pins = path, pins
		return nil
	}
	if named != "" {
		return usagef("--lock: there is no file %s; write it with rlrun plugin lock", named)
	}
	return nil
}

// checkPin refuses a plugin that is not as the lock file says.
func (c *catalogue) checkPin(comp experiment.Component, found plugin.Found) error {
	if c.pins == nil || c.dev[comp.Plugin] != "" {
		return nil
	}
	return c.pins.Check(c.lock, found, comp.Plugin, comp.Args...)
}

func newPluginLock(app *app) *cobra.Command {
	var file string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "lock [PLUGIN | CONFIG.yaml]...",
		Short: "Pin what plugins are made of, so that a changed one is refused",
		Long: `Write the SHA-256 digests of plugins into a lock file, rlrun.lock.yaml. A PLUGIN
is named as in a config, with its arguments in the same word; a CONFIG.yaml
stands for all plugins that it names. Without arguments it is the programs that
rlrun plugin list shows, and those that the lock file has already. Others in the
lock file stay as they are.

Pinned are the executable and every argument that names a file, such as the
script that an interpreter runs. What those load in turn is not pinned, and
bundled plugins need no pin.

rlrun run looks for the lock file beside its config, then in this folder, and
refuses a plugin that is not in it or not as it says, by name and digest. --dev
NAME=PATH of all commands that start plugins puts one under development in
another's place, and leaves the lock file alone.

--json: {version, plugins}; plugins maps a command line to the digests of its
files, by name.`,
		Example: "  rlrun plugin lock\n  rlrun plugin lock exp.yaml\n  rlrun plugin lock grid 'python maze.py --size 9'",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := app.catalogue()
			if err != nil {
				return err
			}
			pins, err := c.pin(file, args, cmd.InOrStdin())
			if err != nil {
				return err
			}
			if err := result.WriteFile(file, pins.Encode); err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), pins)
			}
			var t table
			for _, name := range slices.Sorted(maps.Keys(pins.Plugins)) {
				for _, f := range slices.Sorted(maps.Keys(pins.Plugins[name])) {
					t.row(name, f, pins.Plugins[name][f])
				}
			}
			_, err = io.WriteString(cmd.OutOrStdout(), t.String())
			return err
		},
		ValidArgsFunction: app.completePlugin,
	}
	cmd.Flags().StringVar(&file, "file", lockName, "the lock `FILE`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "for machines")
	return cmd
}

// pin returns what the lock file is to say.
func (c *catalogue) pin(file string, args []string, stdin io.Reader) (*plugin.Pins, error) {
	pins, err := plugin.ReadPins(file)
	if errors.Is(err, fs.ErrNotExist) {
		pins, err = &plugin.Pins{}, nil
	}
	if err != nil {
		return nil, usage{err}
	}
	var list []experiment.Component
	for _, arg := range args {
		if ext := filepath.Ext(arg); ext != ".yaml" && ext != ".yml" {
			list = append(list, experiment.Component{Plugin: arg})
			continue
		}
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		config.Flags(flags)
		f, err := config.Load(arg, stdin, flags)
		if err != nil {
			return nil, err
		}
		list = slices.Concat(list, f.Environments, f.Agents)
	}
	if len(args) == 0 {
		for _, f := range c.search.List() {
			list = append(list, experiment.Component{Plugin: f.Name})
		}
		for _, name := range slices.Sorted(maps.Keys(pins.Plugins)) {
			list = append(list, experiment.Component{Plugin: name})
		}
	}
	pinned := 0
	for _, comp := range list {
		found, err := c.search.Resolve(comp.Plugin, comp.Args...)
		if err != nil {
			if _, was := pins.Plugins[comp.Plugin]; was && len(args) == 0 {
				err = fmt.Errorf("%w; remove it from %s if it is not needed any more", err, file)
			}
			return nil, usage{err}
		}
		if found.Bundled {
			continue
		}
		if err := pins.Pin(found, comp.Plugin, comp.Args...); err != nil {
			return nil, err
		}
		pinned++
	}
	if pinned == 0 {
		return nil, usagef("there is nothing to pin: every plugin here ships with rlrun; name one that is a program of its own")
	}
	return pins, nil
}

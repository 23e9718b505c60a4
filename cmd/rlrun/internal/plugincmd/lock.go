package plugincmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rlrun/rlrun/cmd/rlrun/config"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/run"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

func newLock(app *host.App) *cobra.Command {
	var file string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "lock [PLUGIN | CONFIG.yaml]...",
		Short: "Write the digests of plugins, so that changed plugins are refused",
		Long: `Write the SHA-256 digests of plugins into a lock file, rlrun.lock.yaml. A PLUGIN
is named as in a config, with its arguments in the same word. A CONFIG.yaml
stands for all plugins that it names. Without arguments the plugins are the programs
that rlrun plugin list shows, and those that are in the lock file. Digests of other
plugins in the lock file stay.

The digests are those of the executable and of every argument that names a file, such
as the script that an interpreter runs. For a plugin in Python they include the modules
of its project, and the versions of the packages that it imports when it starts. A
CONFIG.yaml is also played for 100 steps: what a plugin loads when it is opened with the
config's parameters, or in these steps, is locked as "later". Files that other programs
load have no digest. Bundled plugins need none.

rlrun run looks for the lock file in the working directory, then beside its config. It
refuses a plugin that is not in the lock file or has another digest. All commands that
start plugins have --replace NAME=PATH, which uses a plugin under development instead of
NAME, without the lock file.

--json: {version, plugins}; plugins maps a command line to the digests of its
files, by name.`,
		Example: "  rlrun plugin lock\n  rlrun plugin lock exp.yaml\n  rlrun plugin lock grid 'python maze.py --size 9'",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := app.Catalogue()
			if err != nil {
				return err
			}
			pins, err := pin(cmd.Context(), c, file, args, cmd.InOrStdin(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if err := cli.WriteFile(file, pins.Encode); err != nil {
				return err
			}
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), pins)
			}
			var t cli.Table
			for _, name := range slices.Sorted(maps.Keys(pins.Plugins)) {
				for _, f := range slices.Sorted(maps.Keys(pins.Plugins[name])) {
					t.Row(name, f, pins.Plugins[name][f])
				}
			}
			_, err = io.WriteString(cmd.OutOrStdout(), t.Text(0)) // digests stay whole
			return err
		},
		ValidArgsFunction: app.CompletePlugin,
	}
	cmd.Flags().StringVar(&file, "file", host.LockName, "the lock `FILE`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// load plays some steps of a config, so that its plugins load what they load then.
func load(ctx context.Context, c *host.Catalogue, f *config.File) error {
	p, err := plan.Compile(f.Config)
	if err == nil {
		err = c.Configure(f.Config)
	}
	if err != nil {
		return f.Locate(err)
	}
	x := run.New(p, c)
	defer func() { _ = x.Close() }() // plugins that end change nothing
	if err := x.Check(ctx, f.CheckParams); err != nil {
		return f.Locate(err)
	}
	return x.Load(ctx)
}

// pin returns what the lock file is to say. It starts every plugin to ask what it
// imports.
func pin(ctx context.Context, c *host.Catalogue, file string, args []string, stdin io.Reader, stderr io.Writer) (*plugin.Pins, error) {
	pins, err := plugin.ReadPins(file)
	if errors.Is(err, fs.ErrNotExist) {
		pins, err = &plugin.Pins{}, nil
	}
	if err != nil {
		return nil, cli.Usage(err)
	}
	var list []plan.Component
	var configs []*config.File
	for _, arg := range args {
		if ext := filepath.Ext(arg); ext != ".yaml" && ext != ".yml" {
			list = append(list, plan.Component{Plugin: arg})
			continue
		}
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		config.Flags(flags)
		f, err := config.Load(arg, stdin, flags)
		if err != nil {
			return nil, err
		}
		list = slices.Concat(list, f.Environments, f.Agents)
		for _, c := range f.Agents {
			list = append(list, c.Parts()...)
		}
		configs = append(configs, f)
	}
	if len(args) == 0 {
		for _, f := range c.Search.List() {
			list = append(list, plan.Component{Plugin: f.Name})
		}
		for _, name := range slices.Sorted(maps.Keys(pins.Plugins)) {
			list = append(list, plan.Component{Plugin: name})
		}
	}
	var programs []plan.Component
	for _, comp := range list {
		found, err := c.Search.Resolve(comp.Plugin, comp.Args...)
		if err != nil {
			if _, was := pins.Plugins[comp.Plugin]; was && len(args) == 0 {
				err = fmt.Errorf("%w; remove it from %s if it is not needed any more", err, file)
			}
			return nil, cli.Usage(err)
		}
		if !found.Bundled {
			programs = append(programs, comp)
		}
	}
	if len(programs) == 0 {
		return nil, cli.Usagef("there is nothing to lock: every plugin here ships with rlrun; name one that is a program of its own")
	}
	for _, f := range configs {
		if err := load(ctx, c, f); err != nil {
			why, _, _ := strings.Cut(err.Error(), "\n")
			fmt.Fprintf(stderr, "rlrun: warning: the config cannot be played, so modules that its plugins load when they are opened or stepped are not locked: %s\n", why)
		}
	}
	for _, comp := range programs {
		digests, err := c.Digests(ctx, comp)
		if err != nil {
			return nil, err
		}
		pins.Pin(digests, comp.Plugin, comp.Args...)
	}
	return pins, nil
}

package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

const overview = `rlrun answers when it is worth exploring.

It runs experiments of reinforcement-learning agents in environments, and records
every run. Agents and environments may be plugins in any language. It also computes
the exploration threshold, which relates the planning horizon, the uncertainty and the
cost of exploring.

With --json a command prints JSON; its help documents the keys.
Exit status: 0; 1 if a run failed; 2 for bad usage or a bad config; 10 if rlrun
decide finds comparisons open; 75 if a shard was stopped and has runs left; 130 if
interrupted.`

const overviewExample = `  rlrun run configs/quickstart.yaml
  rlrun threshold --belief beta:3,4 --against 0.6 --gamma 0.99
  rlrun plugin list`

// newRoot returns the command tree.
func newRoot(app *host.App) *cobra.Command {
	root := cli.Group(&cobra.Command{
		Use:           "rlrun",
		Short:         "When is it worth exploring?",
		Long:          overview,
		Example:       overviewExample,
		Version:       readBuild().String(),
		SilenceErrors: true,
		SilenceUsage:  true,
	})
	root.AddGroup(groups...)
	for _, c := range commands {
		cmd := c.make(app)
		if !c.keeps {
			abandonable(cmd)
		}
		cmd.GroupID = c.group
		root.AddCommand(cmd)
	}
	log := "off"
	if level, ok := os.LookupEnv("RLRUN_LOG"); ok && level != "" {
		log = level
	}
	root.PersistentFlags().StringVar(&app.Log, "log", log, "`LEVEL` of plugins' logs on stderr: off, error, warn, info, debug or trace (RLRUN_LOG)")
	root.SetFlagErrorFunc(cli.FlagError)
	root.PersistentPreRunE = cli.NoEmptyFlags
	root.SetVersionTemplate("rlrun {{.Version}}\n")
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			cli.Group(c)
			c.Example = "  rlrun completion bash > ~/.local/share/bash-completion/completions/rlrun"
		case "help":
			c.Example = "  rlrun help run\n  rlrun help plugin check"
			c.Args = func(_ *cobra.Command, args []string) error {
				of, rest, err := root.Find(args)
				if err != nil {
					return cli.Usage(err)
				}
				return cli.Subcommand(of, rest)
			}
		}
	}
	return root
}

// abandonable lets an interrupt end a command and its subcommands at once. Their unfinished
// work is not needed.
func abandonable(cmd *cobra.Command) {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			return cli.Abandon(cmd.Context(), func() error { return run(cmd, args) })
		}
	}
	for _, c := range cmd.Commands() {
		if c.Name() != "serve" { // ends with its host
			abandonable(c)
		}
	}
}

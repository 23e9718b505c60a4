// Package tunecmd is the command rlrun tune.
package tunecmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/cmd/rlrun/config"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

const help = `Search for the best settings of agents, and compare the agents on fresh runs.

CONFIG is a config of rlrun run with the key tune, which gives ranges of parameters
(docs/tuning.md). Every agent with ranges gets the same number of trials and of runs.
The runs of the search have other seeds than those of the comparison: the best of many
settings looks better in the search than it is.

The output directory receives
  search/        the experiments of the search
  trials.csv     every setting that was tried, with its runs and its score
  evaluation/    the comparison: an experiment of runs runs with the chosen settings.
                 Its experiment.yaml is a config of rlrun run

An interrupted search goes on with the same command.

Optuna proposes the settings. It needs Python: pip install 'rlrun[tune]'. $RLRUN_PYTHON
names the interpreter, else it is python3.

--json:
  output   directory of the comparison
  best     by agent its settings
  trials   a row for each setting: agent, trial, settings, state (complete, pruned,
           failed), runs, score`

// New returns the command rlrun tune.
func New(*host.App) *cobra.Command {
	var asJSON, print, quiet, overwrite bool
	var lock string
	cmd := &cobra.Command{
		Use:     "tune CONFIG",
		Short:   "Search for the best settings of agents",
		Long:    help,
		Example: "  rlrun tune exp.yaml\n  rlrun tune exp.yaml --set tune.trials=64 --set tune.sampler=random",
		Args:    cli.Arguments(1, "a config"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := config.Load(args[0], cmd.InOrStdin(), cmd.Flags())
			if err != nil {
				return err
			}
			if f.Tune == nil {
				return cli.Usagef("%s has no key tune, which gives the ranges to search", args[0])
			}
			if print {
				return cli.WriteJSON(cmd.OutOrStdout(), f.Config)
			}
			lock, other := host.FindLock(lock, args[0])
			if other != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "rlrun: %s is not asked, as the lock file of this directory comes first\n", other)
			}
			return ask(cmd, "tune", map[string]any{"config": f.Config, "progress": !quiet, "lock": lock, "overwrite": overwrite}, asJSON)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	config.Flags(fs)
	fs.StringVar(&lock, "lock", "", "lock `FILE` that plugins must agree with (default "+host.LockName+" in this directory or beside CONFIG, if there is one)")
	fs.BoolVar(&overwrite, "overwrite", false, "replace the search that the output directory has")
	fs.BoolVar(&quiet, "quiet", false, "show no progress")
	fs.BoolVar(&print, "print", false, "print the config as JSON, and search nothing")
	fs.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

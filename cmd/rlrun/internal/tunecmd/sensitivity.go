package tunecmd

import (
	"cmp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/framework/store"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/comparecmd"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

const sensitivityHelp = `Say how much agents owe to their settings, from an experiment with sweeps.

A setting that is chosen and judged by the same runs looks better than it is. Here one
half of the runs chooses, and the other judges (docs/tuning.md).

It needs Python: pip install 'rlrun[tune]'. $RLRUN_PYTHON names the interpreter, else it is
python3.

--json: a list of
  agent, settings, runs   the entry of the config; numbers of its settings and runs
  left_out                number of runs without a value in some setting
  best                    mean of the best setting over all runs, which chose it
  tuned                   mean of settings chosen for each environment, on other runs
  one                     mean of one setting chosen for all environments, on other runs
  sensitivity             tuned less one
  median, low, high       median and quartiles of the means of all settings
  NAME_ci_low, _ci_high   95 % intervals of tuned, one, sensitivity and median`

// NewSensitivity returns the command rlrun sensitivity.
func NewSensitivity(*host.App) *cobra.Command {
	var metric string
	var scores []string
	var asJSON, print bool
	cmd := &cobra.Command{
		Use:     "sensitivity DIR",
		Short:   "Say how much agents owe to their settings",
		Long:    sensitivityHelp,
		Example: "  rlrun sensitivity results/sweep\n  rlrun sensitivity results/sweep --metric regret",
		Args:    cli.Arguments(1, "an output directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if print {
				return printSettings(cmd, args[0])
			}
			return ask(cmd, "sensitivity", map[string]any{"directory": args[0], "metric": metric, "scores": scores}, asJSON)
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
	}
	cmd.Flags().StringVar(&metric, "metric", "reward", "the `METRIC` to judge by")
	cmd.Flags().StringArrayVar(&scores, "scores", nil, comparecmd.ScoresUsage)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&print, "print", false, "print the agents with several settings and their labels as JSON, and nothing else")
	return cmd
}

// printSettings prints the labels that each agent with a sweep stands for.
func printSettings(cmd *cobra.Command, dir string) error {
	e, err := store.Dir{Path: dir}.Read()
	if err != nil {
		return err
	}
	type family struct {
		Agent  string   `json:"agent"`
		Labels []string `json:"labels"`
	}
	families := make([]family, len(e.Plan.Config.Agents))
	for i, c := range e.Plan.Config.Agents {
		families[i].Agent = cmp.Or(c.Name, c.Plugin)
	}
	for i, c := range e.Plan.Agents {
		f := &families[e.Plan.AgentEntries[i]]
		f.Labels = append(f.Labels, c.Name)
	}
	return cli.WriteJSON(cmd.OutOrStdout(), slices.DeleteFunc(families, func(f family) bool { return len(f.Labels) < 2 }))
}

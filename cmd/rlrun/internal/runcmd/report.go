package runcmd

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/output"
	"github.com/rlrun/rlrun/framework/output/costs"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"
)

// NewReport returns the command rlrun report.
func NewReport(*host.App) *cobra.Command {
	var asJSON, withCosts bool
	var sortBy string
	var top int
	cmd := &cobra.Command{
		Use:   "report DIR",
		Short: "Make tables, plots and the report page again from the records",
		Long: `Make the outputs in an output directory again from its records, as outputs in its
config says, and print the table. This also works for an interrupted experiment.

--sort METRIC orders the agents of the printed table, from the best to the worst in each
environment, and --top K shows the first K of them. What is shown first was chosen by these
runs: the mean of the best of many is too good. rlrun compare --against best corrects for it.

--costs adds the processor time that a step took, of environment and agent together, and the
memory that an agent holds: to the printed answer, in costs.csv, and as plots of the compared
metric against the time. Times do not reproduce, and no other file has them.
` + outcomeKeys,
		Example: `  rlrun report results/quickstart
  rlrun report results/sweep --sort regret --top 10
  rlrun report results/quickstart --costs`,
		Args: cli.Arguments(1, "an output directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if set := cmd.Flags().Changed("top"); set && (top < 1 || sortBy == "") {
				return cli.Usagef("--top must be a number of agents of at least 1, and needs --sort METRIC")
			}
			if sortBy != "" && asJSON {
				return cli.Usagef("--sort orders the printed table, and --json has all agents in the order of the config: give one of the two")
			}
			x, err := host.ReadExperiment(args[0])
			if err != nil {
				return err
			}
			var more []output.Output
			if withCosts {
				more = []output.Output{costs.Output}
			}
			r, err := write(cmd, x, false, more...)
			if err != nil {
				return err
			}
			if err := sorted(cmd, r.Summary, result.Metric(sortBy), top); err != nil {
				return err
			}
			missing, err := missingShards(x)
			if err != nil {
				return err
			}
			if missing != "" {
				fmt.Fprintln(cmd.ErrOrStderr(), "rlrun: "+missing)
			}
			a := answer{x: x, json: asJSON}
			if withCosts {
				if a.costs, err = x.Costs(); err != nil {
					return err
				}
				a.costs = append([]store.Cost{}, a.costs...) // not nil: asked for
			}
			return a.show(cmd, r)
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&sortBy, "sort", "", "order the agents of the table by this `METRIC`, the best first")
	cmd.Flags().IntVar(&top, "top", 0, "with --sort: show the best `K` agents of each environment")
	cmd.Flags().BoolVar(&withCosts, "costs", false, "show the processor time of a step as well, and make costs.csv and plots of scores against it")
	return cmd
}

// sorted says in which order the table has its agents.
func sorted(cmd *cobra.Command, s *result.Summary, by result.Metric, top int) error {
	has := s.AllMetrics()
	if by != "" && !slices.Contains(has, by) {
		return cli.Usagef("--sort: no run has the metric %s; recorded are: %s", by, metric.Names(has))
	}
	if by != "" {
		if err := compare.CheckMetric(s.Meta.Define(by)); err != nil {
			return cli.Usagef("--sort: %w", err)
		}
	}
	for _, env := range s.Meta.Environments {
		if by != "" && !slices.ContainsFunc(s.Rows, func(r result.Row) bool { return r.Environment == env && r.Metric == by && r.N > 0 }) {
			fmt.Fprintf(cmd.ErrOrStderr(), "rlrun: %s is not known in %s: all agents are shown, in the order of the config\n", by, env)
		}
	}
	s.SortBy, s.Top = by, top
	return nil
}

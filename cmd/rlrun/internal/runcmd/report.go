package runcmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

// NewReport returns the command rlrun report.
func NewReport(*host.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "report DIR",
		Short: "Make tables, plots and the report page again from the records",
		Long: `Make the outputs in an output directory again from its records, as outputs in its
config says, and print the table. This also works for an interrupted experiment.
` + outcomeKeys,
		Example: "  rlrun report results/quickstart",
		Args:    cli.Arguments(1, "an output directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			x, err := host.ReadExperiment(args[0])
			if err != nil {
				return err
			}
			r, err := write(cmd, x, false)
			if err != nil {
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
			return a.show(cmd, r)
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

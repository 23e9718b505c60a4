package runcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/framework/experiment"
	"github.com/rlrun/rlrun/framework/result"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

// NewReport returns the command rlrun report.
func NewReport(*host.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "report DIR",
		Short: "Make tables, plots and the report page again from the records",
		Long: `Make everything in an output directory that follows from its records again:
curves.csv, summary.csv, results.db, plots and report.html; and print the table.
It also serves for an experiment that was interrupted.
` + outcomeKeys,
		Example: "  rlrun report results/quickstart",
		Args:    cli.Arguments(1, "an output directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := args[0]
			plan, err := experiment.OpenPlan(dir)
			if errors.Is(err, fs.ErrNotExist) {
				return cli.Usagef("%s holds no experiment.yaml: name an output directory of rlrun run", dir)
			}
			if err != nil {
				return err
			}
			announced := announceRemake(cmd, plan)
			s, files, err := remake(dir, plan)
			announced()
			if err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			if asJSON {
				return cli.WriteJSON(w, newOutcome(dir, s, files))
			}
			if err := result.WriteTable(w, s, cli.Width(w)); err != nil {
				return err
			}
			_, err = fmt.Fprintf(w, "\nResults: %s  (open %s)\n", dir, filepath.Join(dir, "report.html"))
			return err
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for machines")
	return cmd
}

// announceRemake says that remake is at work: on a terminal after a second, elsewhere
// when progress gets its first line.
func announceRemake(cmd *cobra.Command, plan *experiment.Plan) (end func()) {
	w, after := cmd.ErrOrStderr(), firstLine
	if cli.Width(w) > 0 {
		after = time.Second
	}
	runs := len(plan.Cells()) * plan.Config.Runs
	return announce(w, after, fmt.Sprintf("making tables, plots and the report of %d runs", runs))
}

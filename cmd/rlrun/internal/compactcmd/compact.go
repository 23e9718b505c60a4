// Package compactcmd is the command rlrun compact.
package compactcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/framework/store"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

// New returns the command rlrun compact.
func New(*host.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "compact DIR",
		Short: "Pack the records of an experiment into few files",
		Long: `Pack the records in an output directory into few files, for file systems with a quota
of files. A file holds up to 10,000 runs of the same programs. The records, and so
all results, stay the same. It refuses a directory in which runs are being made. An
interruption loses nothing.

--json:
  before, after        number of files of records`,
		Example: "  rlrun compact results/quickstart",
		Args:    cli.Arguments(1, "an output directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := args[0]
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				return cli.Usagef("there is no output directory %s", dir)
			}
			output := store.Dir{Path: dir}
			release, err := output.Claim()
			if errors.Is(err, store.ErrInUse) {
				return cli.Usagef("%w: wait for it", err)
			}
			if err != nil {
				return err
			}
			before, after := 0, 0
			e, err := output.Read()
			switch {
			case errors.Is(err, fs.ErrNotExist):
				err = host.NoExperiment(dir)
			case err == nil:
				before, after, err = output.Compact(cmd.Context(), e.Plan)
			}
			if errors.Is(err, cli.ErrInterrupted) {
				err = fmt.Errorf("%w: all records are kept; go on with: rlrun compact %s", err, cli.ShellQuote([]string{dir}))
			}
			if err := errors.Join(err, release()); err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			if asJSON {
				return cli.WriteJSON(w, map[string]int{"before": before, "after": after})
			}
			_, err = fmt.Fprintf(w, "%d %s of records, before %d\n", after, cli.Plural(after, "file", "files"), before)
			return err
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

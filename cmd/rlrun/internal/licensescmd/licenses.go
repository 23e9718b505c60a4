// Package licensescmd is the command rlrun licenses.
package licensescmd

import (
	_ "embed"
	"io"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

// notices has the licences of all that the program is linked with.
// go test ./cmd/rlrun/internal/licensescmd -update writes it.
//
//go:embed notices.txt
var notices string

// New returns the command rlrun licenses.
func New(*host.App) *cobra.Command {
	return &cobra.Command{
		Use:   "licenses",
		Short: "Print the licences of the modules that rlrun contains",
		Long: `Print the licences and notices of the Go modules and JavaScript libraries that rlrun
contains, and those of Go's standard library. Equal texts are printed once, below the
names of their modules. rlrun itself has the licence MIT.`,
		Example: "  rlrun licenses | less",
		Args:    cli.Arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), notices)
			return err
		},
	}
}

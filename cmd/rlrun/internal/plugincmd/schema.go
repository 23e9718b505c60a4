package plugincmd

import (
	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/framework/plan"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

// NewSchema returns the command rlrun schema.
func NewSchema(app *host.App) *cobra.Command {
	return &cobra.Command{
		Use:   "schema [experiment|PLUGIN]",
		Short: "Print the JSON schema of configs, or of a plugin's parameters",
		Long: `Print the JSON schema of an experiment's config, or of the parameters of a
plugin. Every key is described with its range and default.

Editors complete and check configs with it: save it and start the config with

  # yaml-language-server: $schema=experiment.schema.json`,
		Example: "  rlrun schema > experiment.schema.json\n  rlrun schema bernoulli-bandit",
		Args:    cli.Arguments(0, "a name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || args[0] == "experiment" {
				_, err := cmd.OutOrStdout().Write(plan.Schema())
				return err
			}
			d, err := describe(app, cmd.Context(), args[0], nil, nil)
			if err != nil {
				return err
			}
			return cli.WriteJSON(cmd.OutOrStdout(), d.Params)
		},
		ValidArgsFunction: app.CompletePlugin,
	}
}

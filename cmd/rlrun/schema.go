package main

import (
	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/framework/experiment"
)

func newSchema(app *app) *cobra.Command {
	return &cobra.Command{
		Use:   "schema [experiment|PLUGIN]",
		Short: "Print the JSON schema of configs, or of a plugin's parameters",
		Long: `Print the JSON schema of an experiment's config, or of the parameters of a
plugin. Every key is described with its range and default.

Editors complete and check configs with it: save it and start the config with

  # yaml-language-server: $schema=experiment.schema.json`,
		Example: "  rlrun schema > experiment.schema.json\n  rlrun schema bernoulli-bandit",
		Args:    arguments(0, "a name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || args[0] == "experiment" {
				_, err := cmd.OutOrStdout().Write(experiment.Schema())
				return err
			}
			d, err := app.describe(cmd.Context(), args[0], nil)
			if err != nil {
				return err
			}
			return writeJSON(cmd.OutOrStdout(), d.Params)
		},
		ValidArgsFunction: app.completePlugin,
	}
}

package main

import (
	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/framework/experiment"
)

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema [experiment|PLUGIN]",
		Short: "Print the JSON schema of configs, or of a plugin's parameters",
		Long: `Print the JSON schema of an experiment's config, or of the parameters of a
plugin. Every key is described with its range and default.

Editors complete and check configs with it: save it and start the config with

  # yaml-language-server: $schema=experiment.schema.json`,
		Example: "  rlrun schema > experiment.schema.json",
		Args:    arguments(0, "a name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := cmd.OutOrStdout().Write(experiment.Schema())
			return err
		},
	}
}

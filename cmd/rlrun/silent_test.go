package main

import (
	"context"
	"encoding/json"
	"os"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/plugins"
)

// silent is a bundled environment without a known model.
type silent struct{ vector.Plugin }

func (s silent) Describe(ctx context.Context) (vector.Description, error) {
	d, err := s.Plugin.Describe(ctx)
	d.Abilities = nil
	return d, err
}

func (s silent) OpenEnvironment(ctx context.Context, params json.RawMessage, lanes int) (vector.Environment, error) {
	env, err := s.Plugin.OpenEnvironment(ctx, params, lanes)
	if err != nil {
		return nil, err
	}
	return vector.WithAbilities(env, vector.EnvironmentAbilities{}), nil
}

// serveSilent is the main of a plugin's process; its argument names the
// environment.
func serveSilent() {
	c, err := host.NewCatalogue(plugins.All(), nil)
	if err != nil {
		panic(err)
	}
	plugin.Serve(silent{c.Bundled[os.Args[1]]})
}

// Package gaussianbandit is a multi-armed bandit with normally distributed
// rewards, the ten-armed testbed of Sutton & Barto (2018), §2.3, by default.
package gaussianbandit

import (
	"encoding/json"

	"github.com/rlrun/rlrun/framework/params"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/internal/arms"
)

// ID names the environment.
const ID = "rlrun/gaussian-bandit@1"

// Params are the parameters of the environment.
type Params struct {
	arms.Params
	Noise float64 `json:"noise,omitempty" jsonschema:"minimum=0,default=1" jsonschema_description:"Standard deviation of a reward around its arm's mean."`
}

// defaults are those of the ten-armed testbed.
func defaults() *Params {
	p := &Params{Params: arms.Default(), Noise: 1}
	p.Arms, p.Prior.Kind = 10, "normal"
	return p
}

// Plugin returns the environment as a plugin.
func Plugin() vector.Plugin {
	return &vector.EnvironmentPlugin{
		Description: vector.Description{
			ID:        ID,
			Kind:      vector.KindEnvironment,
			Doc:       "Multi-armed bandit with normal rewards; each run draws its arms' means from a prior, or they are fixed. Defaults: ten arms, means normal(0,1), noise 1.",
			Params:    params.Schema(defaults()),
			Abilities: []string{"model"},
		},
		Open: func(raw json.RawMessage, lanes int) (vector.Environment, error) {
			p := defaults()
			if err := arms.Decode(raw, p, &p.Params); err != nil {
				return nil, err
			}
			return arms.NewLanes(ID, p.Params, lanes, mdp.Noise{SD: p.Noise}), nil
		},
	}
}

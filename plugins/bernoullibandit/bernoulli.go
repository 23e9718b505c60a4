// Package bernoullibandit is the paper's task: a multi-armed bandit whose arms
// pay 1 with a fixed probability and 0 otherwise.
package bernoullibandit

import (
	"encoding/json"
	"fmt"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/params"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/internal/arms"
)

// ID names the environment.
const ID = "rlrun/bernoulli-bandit@1"

// Params are the parameters of the environment.
type Params struct {
	arms.Params
}

// Plugin returns the environment as a plugin.
func Plugin() vector.Plugin {
	return &vector.EnvironmentPlugin{
		Description: vector.Description{
			ID:        ID,
			Kind:      vector.KindEnvironment,
			Doc:       "Multi-armed bandit with rewards 0 and 1; each run draws its arms' means from a prior, or they are fixed.",
			Params:    params.Schema(&Params{Params: arms.Default()}),
			Abilities: []string{"model"},
		},
		Open: func(raw json.RawMessage, lanes int) (vector.Environment, error) {
			p := Params{Params: arms.Default()}
			if err := arms.Decode(raw, &p, &p.Params); err != nil {
				return nil, err
			}
			if low, high := p.Bounds(); low < 0 || high > 1 {
				return nil, fmt.Errorf("means range over [%v, %v], but a Bernoulli arm's mean must be in [0,1]: %w", low, high, framework.ErrInvalidParams)
			}
			return arms.NewLanes(ID, p.Params, lanes, mdp.Noise{Bernoulli: true}), nil
		},
	}
}

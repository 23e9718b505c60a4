// Package gaussianbandit is a multi-armed bandit with normally distributed
// rewards, the ten-armed testbed of Sutton & Barto (2018), §2.3, by default.
package gaussianbandit

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/params"
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
func Plugin() framework.Plugin {
	return &framework.EnvironmentPlugin{
		Description: framework.Description{
			ID:           ID,
			Kind:         framework.KindEnvironment,
			Doc:          "Multi-armed bandit with normal rewards; each run draws its arms' means from a prior, or they are fixed. Defaults: ten arms, means normal(0,1), noise 1.",
			Params:       params.Schema(defaults()),
			Capabilities: []string{"model"},
		},
		Open: func(raw json.RawMessage, lanes int) (framework.VectorEnvironment, error) {
			p := defaults()
			if err := params.Decode(raw, p); err != nil {
				return nil, err
			}
			if err := p.Validate(); err != nil {
				return nil, err
			}
			if !(p.Noise >= 0) || math.IsInf(p.Noise, 0) {
				return nil, fmt.Errorf("noise is %v, must be finite and not negative: %w", p.Noise, framework.ErrInvalidParams)
			}
			return arms.NewLanes(ID, p.Params, lanes, gaussian(p.Noise)), nil
		},
	}
}

// gaussian is the standard deviation of the rewards.
type gaussian float64

// Reward is mean + sd·z, z standard normal: common random numbers across arms.
func (sd gaussian) Reward(mean float64, rng *rand.PCG) float64 {
	return mean + float64(sd)*rand.New(rng).NormFloat64()
}

func (gaussian) Range() (low, high float64) { return math.Inf(-1), math.Inf(1) }

func (sd gaussian) Describe(d *mdp.Definition, a int) {
	d.GaussianNoise = append(d.GaussianNoise, mdp.Reward{S: 0, A: a, R: float64(sd)})
}

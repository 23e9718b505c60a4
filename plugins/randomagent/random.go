// Package randomagent is the agent that acts at random in any action space: the
// baseline that every learner must beat.
package randomagent

import (
	"context"
	"encoding/json"
	"math/rand/v2"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/params"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// Plugin returns the agent. It learns nothing and refuses no environment.
//
// Actions are drawn by space.SampleInto, with the distribution of Gymnasium's sample.
func Plugin() vector.Plugin {
	return &vector.AgentPlugin{
		Description: vector.Description{
			ID: "rlrun/random@1", Kind: vector.KindAgent,
			Doc:       "Acts at random in any action space, uniformly if it is bounded; with masks uniformly among the allowed actions.",
			Params:    params.Schema(struct{}{}),
			Abilities: []string{"checkpoint", "masks"},
		},
		Open: func(data json.RawMessage, spec framework.Spec, lanes int) (vector.Agent, error) {
			if err := params.Decode(data, &struct{}{}); err != nil {
				return nil, err
			}
			return vector.VectorizeAgent(func(s uint64) (framework.Agent, error) {
				return newAgent(spec.Action, s), nil
			}, spec, lanes)
		},
	}
}

type agent struct {
	actions space.Space
	pcg     *rand.PCG
	rng     *rand.Rand // over pcg
	action  space.Value
	allowed []bool // nil without masks
}

func newAgent(actions space.Space, s uint64) *agent {
	a := &agent{actions: actions, pcg: rand.NewPCG(s, uint64(seed.Exploration))}
	a.rng = rand.New(a.pcg)
	return a
}

// SelectAction implements framework.Agent.
func (a *agent) SelectAction(context.Context, space.Value) (space.Value, error) {
	if a.allowed != nil {
		return space.SampleMasked(a.actions, a.allowed, a.rng), nil
	}
	space.SampleInto(&a.action, a.actions, a.rng)
	return a.action, nil
}

// SetActionMask implements framework.MaskedAgent.
func (a *agent) SetActionMask(allowed []bool) { a.allowed = allowed }

// Update implements framework.Agent: there is nothing to learn.
func (a *agent) Update(context.Context, framework.Transition) error { return nil }

// Save implements framework.Saver.
func (a *agent) Save(context.Context) ([]byte, error) { return a.pcg.MarshalBinary() }

// Load implements framework.Loader.
func (a *agent) Load(_ context.Context, state []byte) error { return a.pcg.UnmarshalBinary(state) }

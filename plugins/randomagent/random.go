// Package randomagent is the agent that acts at random in any action space: the
// baseline that every learner must beat.
package randomagent

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/params"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// Plugin returns the agent. It learns nothing and refuses no environment.
//
// Actions are drawn as by Gymnasium's sample: uniformly from finite sets and
// between finite bounds, from an exponential distribution that starts at the
// finite bound if the other is infinite, and from the standard normal
// distribution if both are infinite.
func Plugin() vector.Plugin {
	return &vector.AgentPlugin{
		Description: vector.Description{
			ID: "rlrun/random@1", Kind: vector.KindAgent,
			Doc:          "Acts at random in any action space, uniformly if it is bounded.",
			Params:       params.Schema(struct{}{}),
			Capabilities: []string{"checkpoint"},
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
}

func newAgent(actions space.Space, s uint64) *agent {
	a := &agent{actions: actions, pcg: rand.NewPCG(s, uint64(seed.Exploration))}
	a.rng = rand.New(a.pcg)
	switch width := actions.Width(); actions.DType() {
	case space.Int64:
		a.action.Ints = make([]int64, width)
	case space.Float64:
		a.action.Float64 = make([]float64, width)
	case space.Float32:
		a.action.Float32 = make([]float32, width)
	case space.Uint8:
		a.action.Uint8 = make([]uint8, width)
	}
	return a
}

// SelectAction implements framework.Agent.
func (a *agent) SelectAction(context.Context, space.Value) (space.Value, error) {
	switch s := a.actions.(type) {
	case space.Discrete:
		a.action.Int = s.Start + a.rng.Int64N(s.N)
	case space.MultiDiscrete:
		for i, n := range s.NVec {
			a.action.Ints[i] = a.rng.Int64N(n)
		}
	case space.Box:
		for i := range s.Width() {
			low, high := s.Low[i%len(s.Low)], s.High[i%len(s.High)]
			switch s.DType() {
			case space.Float32:
				a.action.Float32[i] = min(max(float32(a.draw(low, high)), float32(low)), float32(high))
			case space.Uint8:
				first := max(math.Ceil(low), 0)
				count := min(math.Floor(high), math.MaxUint8) - first + 1
				a.action.Uint8[i] = uint8(first) + uint8(a.rng.IntN(int(count)))
			default:
				a.action.Float64[i] = a.draw(low, high)
			}
		}
	}
	return a.action, nil
}

// draw returns a number in [low, high].
func (a *agent) draw(low, high float64) float64 {
	switch lower, upper := math.IsInf(low, 0), math.IsInf(high, 0); {
	case lower && upper:
		return a.rng.NormFloat64()
	case lower:
		return high - a.rng.ExpFloat64()
	case upper:
		return low + a.rng.ExpFloat64()
	}
	u := a.rng.Float64()
	return min(max(low*(1-u)+high*u, low), high) // high - low may overflow
}

// Update implements framework.Agent: there is nothing to learn.
func (a *agent) Update(context.Context, framework.Transition) error { return nil }

// Save implements framework.Saver.
func (a *agent) Save(context.Context) ([]byte, error) { return a.pcg.MarshalBinary() }

// Load implements framework.Loader.
func (a *agent) Load(_ context.Context, state []byte) error { return a.pcg.UnmarshalBinary(state) }

// Package actortest holds an agent for tests, a copy of which acts in several environments at once.
package actortest

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// Most is the largest number of actors.
const Most = 8

// Plugin provides agents whose actions depend on everything that all actors of their run have met.
func Plugin() *vector.AgentPlugin {
	return &vector.AgentPlugin{
		Description: vector.Description{
			ID: "test/mixer@1", Kind: vector.KindAgent, Doc: "Acts in several environments.",
			Params: json.RawMessage(`{"type":"object"}`), Abilities: []string{"checkpoint"}, MaxActors: Most,
		},
		Open: func(_ json.RawMessage, spec framework.Spec, lanes int) (vector.Agent, error) {
			actions, ok := spec.Action.(space.Discrete)
			if !ok || spec.Masks {
				return nil, fmt.Errorf("actions are not discrete, or masked: %w", framework.ErrUnsupported)
			}
			n := max(spec.Actors, 1)
			return &mixer{actors: n, actions: actions, runs: make([]state, lanes/n)}, nil
		},
	}
}

type mixer struct {
	actors  int
	actions space.Discrete
	runs    []state
}

// state is what a run has: a sum of all that its actors met, and the steps since it was measured.
type state struct {
	sum   uint64
	steps float64
}

// Step implements vector.Agent.
func (m *mixer) Step(_ context.Context, in *vector.Feedback, actions *space.Column) error {
	for lane, signal := range in.Signals { // all learn before one acts
		r := &m.runs[lane/m.actors]
		switch {
		case signal == vector.NewRun && lane%m.actors == 0:
			*r = state{sum: in.Seeds[lane]}
		case signal == vector.NewRun:
			r.sum = mix(r.sum, in.Seeds[lane])
		case signal == vector.Continue:
			r.sum = mix(mix(r.sum, math.Float64bits(in.Rewards[lane])), observed(in, lane))
			r.steps++
		}
	}
	for lane, signal := range in.Signals {
		stepped := signal == vector.Continue || signal == vector.Evaluate
		if signal == vector.Idle || stepped && (in.Terminated[lane] || in.Truncated[lane]) {
			continue
		}
		x := mix(mix(m.runs[lane/m.actors].sum, uint64(lane%m.actors)), observed(in, lane))
		actions.Int64[lane] = m.actions.Start + int64(x>>33)%m.actions.N
	}
	return nil
}

func observed(in *vector.Feedback, lane int) (sum uint64) {
	one := in.Observations.Lane(lane)
	if in.Observations.Width == 1 && len(one.Int64) == 1 {
		return uint64(one.Int64[0])
	}
	for _, b := range one.AppendBytes(nil) {
		sum = mix(sum, uint64(b))
	}
	return sum
}

// mix adds x to a sum.
func mix(sum, x uint64) uint64 {
	sum = (sum ^ x) * 0x9E3779B97F4A7C15
	return sum ^ sum>>29
}

// Abilities implements vector.Agent.
func (m *mixer) Abilities() vector.AgentAbilities {
	return vector.AgentAbilities{
		Measures: &vector.Measures{
			Metrics: []framework.Metric{{Name: "learned", Unit: "steps", Doc: "Steps that it has learned from.", Total: framework.Sum}},
			Read: func(_ context.Context, lanes []int, dst []float64) error {
				for k, lane := range lanes {
					if lane%m.actors > 0 {
						return fmt.Errorf("lane %d is not the first of a run", lane)
					}
					r := &m.runs[lane/m.actors]
					dst[k], r.steps = r.steps, 0
				}
				return nil
			},
		},
		Calls: vector.Checkpoint(
			func(_ context.Context, lane int) ([]byte, error) {
				r := m.runs[lane/m.actors]
				return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, r.sum), math.Float64bits(r.steps)), nil
			},
			func(_ context.Context, lane int, data []byte) error {
				if len(data) != 16 {
					return errors.New("no state of a mixer")
				}
				m.runs[lane/m.actors] = state{binary.LittleEndian.Uint64(data), math.Float64frombits(binary.LittleEndian.Uint64(data[8:]))}
				return nil
			}),
	}
}

// Close implements vector.Agent.
func (m *mixer) Close() error { return nil }

package rltest

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// wanderer is an agent for finite tasks that chooses at random, but with a fault
// that depends on how it is shown the task.
func wanderer(breaks map[string]string, fault func(spec framework.Spec, rng *rand.Rand, last float64, observation int64) (action int64, at bool)) vector.Plugin {
	return &vector.AgentPlugin{
		Description: vector.Description{ID: "test/wanderer@1", Kind: vector.KindAgent, Doc: "x", Params: json.RawMessage(`{}`), Breaks: breaks},
		Open: func(_ json.RawMessage, spec framework.Spec, lanes int) (vector.Agent, error) {
			n := spec.Action.(space.Discrete).N
			return &wandering{spec: spec, actions: n, fault: fault, rngs: make([]*rand.Rand, lanes)}, nil
		},
	}
}

type wandering struct {
	spec    framework.Spec
	actions int64
	fault   func(framework.Spec, *rand.Rand, float64, int64) (int64, bool)
	rngs    []*rand.Rand
}

func (w *wandering) Abilities() vector.AgentAbilities { return vector.AgentAbilities{} }

func (w *wandering) Step(_ context.Context, in *vector.Feedback, actions *space.Column) error {
	for i, s := range in.Signals {
		if s == vector.Idle {
			continue
		}
		if s == vector.NewRun {
			w.rngs[i] = rand.New(rand.NewPCG(in.Seeds[i], 5))
		}
		actions.Int64[i] = w.rngs[i].Int64N(w.actions)
		if w.fault != nil {
			if a, at := w.fault(w.spec, w.rngs[i], in.Rewards[i], in.Observations.Int64[i]); at {
				actions.Int64[i] = a
			}
		}
	}
	return nil
}

func (w *wandering) Close() error { return nil }

// An agent that looks at nothing follows every law. One that looks at what does not
// matter is found out by the law of it, and by that alone.
func TestLawsFindFaults(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault func(spec framework.Spec, rng *rand.Rand, last float64, observation int64) (int64, bool)
		want  []Rule
	}{
		{"none", nil, nil},
		{"many states", func(s framework.Spec, _ *rand.Rand, _ float64, _ int64) (int64, bool) {
			return 0, s.Observation.(space.Discrete).N > padding
		}, []Rule{UnreachableStates}},
		{"many actions", func(s framework.Spec, _ *rand.Rand, _ float64, _ int64) (int64, bool) {
			return 0, s.Action.(space.Discrete).N > 4
		}, []Rule{DuplicatedActions}},
		{"the first state", func(_ framework.Spec, _ *rand.Rand, _ float64, o int64) (int64, bool) {
			return 1, o > 1
		}, []Rule{RelabelledStates, RelabelledActions}},
		{"the last action", func(framework.Spec, *rand.Rand, float64, int64) (int64, bool) {
			return 1, true
		}, []Rule{RelabelledActions}},
		{"large rewards", func(s framework.Spec, _ *rand.Rand, _ float64, _ int64) (int64, bool) {
			return 1, s.RewardHigh-s.RewardLow > 20
		}, []Rule{ScaledRewards}},
		{"the lower bound", func(s framework.Spec, _ *rand.Rand, _ float64, _ int64) (int64, bool) {
			return 1, s.RewardLow > 10
		}, []Rule{ShiftedRewards}},
		{"a little, with many states", func(s framework.Spec, rng *rand.Rand, _ float64, _ int64) (int64, bool) {
			return 1, rng.Float64() < 0.04 && s.Observation.(space.Discrete).N > padding // the second look finds it
		}, []Rule{UnreachableStates}},
		{"no ends", func(s framework.Spec, _ *rand.Rand, _ float64, _ int64) (int64, bool) {
			return 1, s.Continuing && s.RewardLow == -0.125
		}, []Rule{ContinuingForm}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := wanderer(nil, tt.fault)
			if got := Broken(CheckLaws(t.Context(), p, nil)); !slices.Equal(got, tt.want) {
				t.Errorf("broken: %v, want %v", got, tt.want)
			}
			declared := map[string]string{}
			for _, law := range tt.want {
				declared[string(law)] = "by design"
			}
			if err := CheckLaws(t.Context(), wanderer(declared, tt.fault), nil); err != nil {
				t.Errorf("declared, and yet: %v", err)
			}
		})
	}
}

// Every declared name is a law, and has a reason.
func TestDeclarationsOfLaws(t *testing.T) {
	for law, reason := range map[string]string{"gravity": "by design", string(ScaledRewards): ""} {
		if got := Broken(CheckLaws(t.Context(), wanderer(map[string]string{law: reason}, nil), nil)); !slices.Equal(got, []Rule{Described}) {
			t.Errorf("%q, %q: broken %v", law, reason, got)
		}
	}
}

// Agents of other tasks are told apart from those that break laws.
func TestLawsAreForFiniteTasks(t *testing.T) {
	p := &vector.AgentPlugin{Open: func(json.RawMessage, framework.Spec, int) (vector.Agent, error) { return nil, framework.ErrUnsupported }}
	if err := CheckLaws(t.Context(), p, nil); !errors.Is(err, framework.ErrUnsupported) {
		t.Error(err)
	}
}

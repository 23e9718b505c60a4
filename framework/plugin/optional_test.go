package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// drawn is counters that can be looked at.
type drawn struct{ *counters }

func (d drawn) Abilities() vector.EnvironmentAbilities {
	return vector.EnvironmentAbilities{Calls: vector.Render.By(d.render)}
}

func (d drawn) render(_ context.Context, lane int) (string, error) {
	if d.Fault == "render" {
		panic("no colours")
	}
	return fmt.Sprintf("count %d\n", d.counts[lane]), nil
}

// stored is modulo that can be saved.
type stored struct{ *modulo }

func (s stored) Abilities() vector.AgentAbilities {
	return vector.AgentAbilities{Calls: vector.Checkpoint(s.save, s.load)}
}

func (s stored) save(_ context.Context, lane int) ([]byte, error) {
	return []byte{byte(s.steps[lane])}, nil
}

func (s stored) load(_ context.Context, lane int, state []byte) error {
	if len(state) != 1 {
		return &vector.LaneError{Lane: lane, Err: fmt.Errorf("a state of %d bytes", len(state))}
	}
	s.steps[lane] = int(state[0])
	return nil
}

func loopback(t *testing.T, p vector.Plugin) *plugin.Process {
	t.Helper()
	remote := must.Get(plugin.Loopback(p))(t)
	t.Cleanup(func() { remote.Close() })
	return remote
}

func TestRender(t *testing.T) {
	fault := ""
	p := loopback(t, &vector.EnvironmentPlugin{
		Description: vector.Description{ID: "test/drawn@1", Kind: vector.KindEnvironment},
		Open: func(_ json.RawMessage, lanes int) (vector.Environment, error) {
			return drawn{&counters{faults: faults{Fault: fault, Lane: -1}, counts: make([]int64, lanes)}}, nil
		},
	})
	env := must.Get(p.OpenEnvironment(t.Context(), nil, 2))(t)
	in, out := start(env.Spec(), 2)
	for range 3 {
		must.Do(t, env.Step(t.Context(), in, &out))
		proceed(in.Signals)
	}
	if text, err := vector.Render.Ask(t.Context(), env, 1); err != nil || text != "count 2\n" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := vector.Render.Ask(t.Context(), env, 2); err == nil || !strings.Contains(err.Error(), "no lane 2 of 2") {
		t.Errorf("got %v", err)
	}
	fault = "render"
	env = must.Get(p.OpenEnvironment(t.Context(), nil, 1))(t)
	if _, err := vector.Render.Ask(t.Context(), env, 0); err == nil || !strings.Contains(err.Error(), "no colours") {
		t.Errorf("got %v", err)
	}
	plain := must.Get(loopback(t, faultyEnvironment()).OpenEnvironment(t.Context(), nil, 1))(t)
	if _, err := vector.Render.Ask(t.Context(), plain, 0); !errors.Is(err, framework.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

func TestSaveAndLoad(t *testing.T) {
	spec := framework.Spec{ID: "test/spec@1", Observation: space.Discrete{N: 5}, Action: space.Discrete{N: 3}, RewardHigh: 1}
	p := loopback(t, &vector.AgentPlugin{
		Description: vector.Description{ID: "test/stored@1", Kind: vector.KindAgent},
		Open: func(_ json.RawMessage, _ framework.Spec, lanes int) (vector.Agent, error) {
			return stored{&modulo{faults: faults{Lane: -1}, steps: make([]int, lanes)}}, nil
		},
	})
	agent := must.Get(p.OpenAgent(t.Context(), nil, spec, 2))(t)
	must.Do(t, vector.Load(t.Context(), agent, 0, []byte{7}))
	state, err := vector.Save(t.Context(), agent, 0)
	if err != nil || len(state) != 1 || state[0] != 7 {
		t.Errorf("%v, %v", state, err)
	}
	var lane *vector.LaneError
	if err := vector.Load(t.Context(), agent, 1, nil); !errors.As(err, &lane) || lane.Lane != 1 {
		t.Errorf("got %v", err)
	}
	if _, err := vector.Save(t.Context(), agent, -1); err == nil {
		t.Error("saved lane -1")
	}
	plain := must.Get(loopback(t, faultyAgent()).OpenAgent(t.Context(), nil, spec, 1))(t)
	if _, err := vector.Save(t.Context(), plain, 0); !errors.Is(err, framework.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
	if err := vector.Load(t.Context(), plain, 0, nil); !errors.Is(err, framework.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

// named is walk with names of its actions.
type named struct{ *walk }

func (named) ActionNames(context.Context) ([]string, error) { return []string{"back", "on"}, nil }

// An ability that nothing on the way knows by name crosses all of it: a copy of an
// author's, lanes, and the seam.
func TestAbilityCrosses(t *testing.T) {
	p := plugin.NewEnvironment("test/named@1", "A walk.", walkParams{Length: 3}, func(p walkParams) (named, error) {
		w, err := newWalk(p)
		return named{w}, err
	})
	d, err := p.Describe(t.Context())
	if err != nil || len(d.Abilities) != 1 || d.Abilities[0] != "action_names" {
		t.Errorf("%+v, %v", d, err)
	}
	env := must.Get(loopback(t, p).OpenEnvironment(t.Context(), nil, 3))(t)
	defer env.Close()
	for lane := range 3 {
		if names, err := vector.ActionNames.Ask(t.Context(), env, lane); err != nil || len(names) != 2 || names[1] != "on" {
			t.Errorf("lane %d: %v, %v", lane, names, err)
		}
	}
	if _, err := vector.ActionNames.Ask(t.Context(), env, 3); err == nil {
		t.Error("lane 3 of 3 answered")
	}
}

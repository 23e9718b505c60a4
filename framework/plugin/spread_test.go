package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/internal/optiontest"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// spread starts so many processes of one role.
func spread(t testing.TB, n int, role string) vector.Plugin {
	var list []vector.Plugin
	for range n {
		list = append(list, launch(t, plugin.LaunchOptions{}, role))
	}
	return vector.Spread(list...)
}

// Lanes spread over several copies of a plugin do what they do in one, for any
// spaces, signals, lanes and copies.
func TestSpreadIsTransparent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := framework.Spec{
			ID: "test/dice@1", Observation: anySpace(t, "observation"), Action: anySpace(t, "action"),
			RewardLow: 0, RewardHigh: math.Inf(1),
		}
		lanes := rapid.IntRange(1, 7).Draw(t, "lanes")
		kinds := rapid.SampledFrom([]vector.Signal{vector.Continue, vector.Continue, vector.Idle, vector.NewEpisode, vector.NewRun})
		signals := [][]vector.Signal{make([]vector.Signal, lanes)}
		for i := range lanes {
			signals[0][i] = vector.NewRun
		}
		for range rapid.IntRange(0, 5).Draw(t, "steps") {
			signals = append(signals, rapid.SliceOfN(kinds, lanes, lanes).Draw(t, "signals"))
		}
		want := must.Get(play(context.Background(), dicePlugin(spec), gamblerPlugin(), signals))(t)
		copies := func(p vector.Plugin, name string) vector.Plugin {
			var list []vector.Plugin
			for range rapid.IntRange(1, 4).Draw(t, name) {
				list = append(list, p)
			}
			return vector.Spread(list...)
		}
		got := must.Get(play(context.Background(), copies(dicePlugin(spec), "environments"), copies(gamblerPlugin(), "agents"), signals))(t)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("the columns differ:\n% x\n% x", got, want)
		}
	})
}

// The same in processes, with exploration that the host decides.
func TestSpreadOptions(t *testing.T) {
	runs := []int{0, 1, 2, 3, 4}
	want := must.Get(explored(t, optiontest.Plugin(), runs, stochastic()))(t)
	got, err := explored(t, spread(t, 3, "serve-options"), runs, stochastic())
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("in three processes (%v)\n%s\nin this one\n%s", err, got, want)
	}
}

// They have all abilities of their plugin. An error names the lane by its
// number among all, and again the same at the next call.
func TestSpreadAbilities(t *testing.T) {
	p := spread(t, 3, "serve-environment")
	open := func(lanes int, f faults) vector.Environment {
		t.Helper()
		f.Lane, f.Step, f.ID = -1, struck-1, faultyID
		params := must.Get(json.Marshal(f))(t)
		return must.Get(p.OpenEnvironment(t.Context(), params, lanes))(t)
	}
	step := func(env vector.Environment, lanes int) (err error) {
		in, out := start(env.Spec(), lanes)
		for range struck {
			if err = env.Step(t.Context(), in, &out); err != nil {
				break
			}
			proceed(in.Signals)
		}
		return err
	}
	for _, lanes := range []int{1, 2, 3, 10} {
		env := open(lanes, faults{})
		must.Do(t, step(env, lanes))
		models, err := vector.Models(t.Context(), env)
		if err != nil || len(models) != lanes || models[lanes-1] == nil {
			t.Errorf("%d lanes: models %v (%v)", lanes, models, err)
		}
		if err := env.Close(); err != nil {
			t.Error(err)
		}
	}
	if open(4, faults{Fault: "no model"}).Abilities().Models != nil {
		t.Error("an environment without models has some")
	}
	for lane := range 10 {
		env := open(10, faults{Fault: "error", Seeds: []uint64{uint64(lane)}})
		for range 2 {
			err := step(env, 10)
			var l *vector.LaneError
			if !errors.As(err, &l) || l.Lane != lane || !strings.Contains(err.Error(), fmt.Sprintf("plugin faulty: lane %d: no luck", lane)) {
				t.Errorf("lane %d: got %v", lane, err)
			}
		}
	}
	crash := open(10, faults{Fault: "exit", Seeds: []uint64{7}})
	for range 2 { // lane 7 is one of the last of three processes
		if err := step(crash, 10); !errors.Is(err, plugin.ErrDied) || !strings.Contains(err.Error(), "lanes 6 to 9: the process died") {
			t.Errorf("a process that dies: got %v", err)
		}
	}
	if _, err := p.OpenEnvironment(t.Context(), []byte(`{"fault":"open"}`), 2); err == nil || !strings.Contains(err.Error(), "panic: cannot open") {
		t.Errorf("got %v", err)
	}
	if _, err := p.OpenEnvironment(t.Context(), nil, 0); err == nil || !strings.Contains(err.Error(), "0 lanes") {
		t.Errorf("no lanes: got %v", err)
	}
	// Without a name of its own the faulty environment is called after its process.
	if _, err := spread(t, 2, "serve-environment").OpenEnvironment(t.Context(), nil, 2); !errors.Is(err, framework.ErrInvalidAnswer) || !strings.Contains(err.Error(), "describe different environments") {
		t.Errorf("two different environments: got %v", err)
	}
}

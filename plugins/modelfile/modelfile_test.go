package modelfile

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/rltest"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/plugins/families"
)

// file writes a model and returns the parameters that name it.
func file(t *testing.T, model string) json.RawMessage {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.json")
	must.Do(t, os.WriteFile(path, []byte(model), 0o666))
	return must.Get(json.Marshal(map[string]string{"file": path}))(t)
}

const (
	ferry     = `{"S": 2, "A": 2, "transitions": [[0,0,0,0.9], [0,0,1,0.1], [0,1,1,1], [1,0,1,0.9], [1,0,0,0.1], [1,1,0,1]], "rewards": [[0,0,1], [1,0,-2]]}`
	corridor  = `{"S": 3, "A": 2, "transitions": [[0,0,0,1], [0,1,1,1], [1,0,0,1], [1,1,2,1]], "successor_rewards": [[1,1,2,5]], "terminal": [2]}`
	bernoulli = `{"S": 1, "A": 2, "transitions": [[0,0,0,1], [0,1,0,1]], "rewards": [[0,0,0.3], [0,1,0.6]], "bernoulli": [[0,0], [0,1]]}`
	gaussian  = `{"S": 1, "A": 2, "transitions": [[0,0,0,1], [0,1,0,1]], "rewards": [[0,0,0.3], [0,1,0.6]], "noise": [[0,1,2]]}`
)

// Terminal states and noise decide what the environment says of itself, and every
// variant passes the conformance suite.
func TestModelsConform(t *testing.T) {
	inf := math.Inf(1)
	for name, tt := range map[string]struct {
		model      string
		low, high  float64
		continuing bool
	}{
		"continuing": {ferry, -2, 1, true},
		"episodic":   {corridor, 0, 5, false},
		"bernoulli":  {bernoulli, 0, 1, true},
		"gaussian":   {gaussian, -inf, inf, true},
	} {
		t.Run(name, func(t *testing.T) {
			params := file(t, tt.model)
			env := must.Get(Plugin().OpenEnvironment(t.Context(), params, 1))(t)
			if s := env.Spec(); s.RewardLow != tt.low || s.RewardHigh != tt.high || s.Continuing != tt.continuing {
				t.Errorf("rewards in [%v,%v], continuing %v", s.RewardLow, s.RewardHigh, s.Continuing)
			}
			if err := rltest.CheckPlugin(t.Context(), Plugin(), params); err != nil {
				t.Error(err)
			}
		})
	}
}

// A model that was written and read again is the same task, draw for draw.
func TestAWrittenModelIsTheTask(t *testing.T) {
	for _, kind := range families.Kinds() {
		original := must.Get(families.Plugin().OpenEnvironment(t.Context(), json.RawMessage(`{"kind":"`+string(kind)+`"}`), 1))(t)
		models := must.Get(vector.Models(t.Context(), original))(t)
		text := must.Get(json.Marshal(models[0]))(t)
		again := must.Get(Plugin().OpenEnvironment(t.Context(), file(t, string(text)), 1))(t)
		a, b := walk(t, original), walk(t, again)
		for k := range a {
			if a[k] != b[k] {
				t.Fatalf("%s, step %d: %v and %v", kind, k, a[k], b[k])
			}
		}
	}
}

type outcome struct {
	observation int64
	reward      float64
	terminated  bool
}

// walk takes 300 actions.
func walk(t *testing.T, env vector.Environment) (out []outcome) {
	t.Helper()
	in, got := vector.NewActions(env.Spec(), 1), vector.NewTimeSteps(env.Spec(), 1)
	in.Signals[0], in.Seeds[0] = vector.NewRun, 7
	for k := range 300 {
		must.Do(t, env.Step(t.Context(), in, &got))
		out = append(out, outcome{got.Observations.Int64[0], got.Rewards[0], got.Terminated[0]})
		in.Signals[0], in.Actions.Int64[0] = vector.Continue, int64(k%7%2)
		if got.Terminated[0] {
			in.Signals[0], in.Seeds[0] = vector.NewEpisode, uint64(k)
		}
	}
	return out
}

func TestWrongFiles(t *testing.T) {
	for name, tt := range map[string]struct {
		params json.RawMessage
		want   string
	}{
		"no file":        {json.RawMessage(`{}`), "file is missing"},
		"not there":      {json.RawMessage(`{"file":"nowhere.json"}`), "nowhere.json: no such file or directory (a relative path begins in the directory"},
		"a directory":    {json.RawMessage(`{"file":"."}`), "is a directory"},
		"no JSON":        {file(t, "hello"), "line 1, column 1"},
		"an open row":    {file(t, `{"S":1,"A":1,"transitions":[[0,0,0,0.5]]}`), "sum to 0.5"},
		"begins at ends": {file(t, `{"S":1,"A":1,"transitions":[],"terminal":[0]}`), "begin in state 0, which is terminal"},
		"limit":          {json.RawMessage(`{"file":"m.json","limit":-1}`), "limit is -1"},
		"unknown":        {json.RawMessage(`{"path":"m.json"}`), `unknown field "path"`},
	} {
		_, err := Plugin().OpenEnvironment(t.Context(), tt.params, 1)
		if !errors.Is(err, framework.ErrInvalidParams) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

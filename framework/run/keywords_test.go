package run

import (
	"encoding/json"
	"slices"
	"testing"
)

// What begins where a run has ended is said: of given values and of defaults, in lists, references and kinds.
func TestStepsBeyondTheRunAreSaid(t *testing.T) {
	schema := `{
		"properties": {
			"warmup": {"type": "integer", "default": 128, "x-beyond": "it never learns"},
			"other": {"type": "integer", "default": 1000},
			"decay": {"type": "string"},
			"scales": {"type": "array", "default": [0, 0]},
			"decay_steps": {"type": "integer", "default": 500, "x-beyond": "it decays on", "x-when": "decay=linear or scales!=0 and other=1000"},
			"schedule": {"$ref": "#/$defs/Schedule"},
			"policy": {"anyOf": [
				{"properties": {"kind": {"const": "a"}, "budget": {"x-beyond": "it never commits"}}},
				{"properties": {"kind": {"const": "b"}, "budget": {}}}]}
		},
		"$defs": {"Schedule": {"properties": {"steps": {"type": "array", "x-beyond": "it never follows"}}}}
	}`
	for params, want := range map[string][]string{
		``:                                 {"warmup is 128, and runs have 100 steps: it never learns"},
		`{"warmup": 100}`:                  {"warmup is 100, and runs have 100 steps: it never learns"},
		`{"warmup": 99}`:                   nil,
		`{"warmup": 1, "decay": "linear"}`: {"decay_steps is 500, and runs have 100 steps: it decays on"},
		`{"warmup": 1, "decay": "linear", "decay_steps": 7}`:    nil,
		`{"warmup": 1, "decay": "none", "decay_steps": 700}`:    nil,
		`{"warmup": 1, "scales": [0, 1]}`:                       {"decay_steps is 500, and runs have 100 steps: it decays on"},
		`{"warmup": 1, "scales": [0, 1], "other": 2}`:           nil,
		`{"warmup": "no"}`:                                      nil, // the schema refuses it
		`{"warmup": 1, "schedule": {"steps": [5, 1000]}}`:       {"schedule.steps[1] is 1000, and runs have 100 steps: it never follows"},
		`{"warmup": 1, "policy": {"kind": "a", "budget": 1e6}}`: {"policy.budget is 1000000, and runs have 100 steps: it never commits"},
		`{"warmup": 1, "policy": {"kind": "b", "budget": 1e6}}`: nil,
	} {
		var given json.RawMessage
		if params != "" {
			given = json.RawMessage(params)
		}
		if got := tooLate(json.RawMessage(schema), given, 100); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", params, got, want)
		}
	}
}

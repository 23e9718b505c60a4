package plugincmd

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"

	"github.com/rlrun/rlrun/internal/must"
)

func TestReadParams(t *testing.T) {
	params := must.Get(readParams(json.RawMessage(`{
		"$defs": {"Inner": {"type": "object", "properties": {"Zeta": {"type": "number", "exclusiveMinimum": 0}, "alpha": {"const": 3}}, "required": ["alpha"]}},
		"type": "object",
		"properties": {
			"n": {"type": "integer", "minimum": 1, "maximum": 5, "default": 2},
			"inner": {"$ref": "#/$defs/Inner", "description": "about it"},
			"list": {"type": "array", "items": {"type": "string"}},
			"kind": {"enum": ["a", "b"]},
			"nothing": null
		}}`)))(t)
	var got []string
	for _, p := range params {
		got = append(got, p.path+": "+p.values()+"; "+p.Description)
	}
	want := []string{
		"n: integer ≥ 1 ≤ 5, default 2; ",
		"inner: mapping; about it",
		"inner.Zeta: number > 0; ",
		"inner.alpha: 3, required; ",
		"list: list of string; ",
		"kind: a | b; ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

// An agent whose saved state is a pickle says so, in words.
func TestDescriptionOfPickles(t *testing.T) {
	for _, abilities := range [][]string{{"checkpoint", "pickle"}, {"checkpoint"}} {
		var text strings.Builder
		d := vector.Description{ID: "a/b@1", Kind: vector.KindAgent, Params: json.RawMessage(`{"type": "object"}`), Abilities: abilities}
		must.Do(t, printDescription(&text, &inspected{Description: d, Saved: saved(d)}))
		if got, want := strings.Contains(text.String(), "Saved agents: pickles of Python; to read one runs code"), len(abilities) == 2; got != want {
			t.Errorf("%v: it warns: %v\n%s", abilities, got, text.String())
		}
	}
}

// Bounds that are all alike are one number, and of many numbers the first are printed.
func TestSpacesInWords(t *testing.T) {
	for want, s := range map[string]space.Space{
		"discrete, -1 to 1": space.Discrete{N: 3, Start: -1},
		"multi-discrete, with these numbers of values: [2 3]": space.MultiDiscrete{NVec: []int64{2, 3}},
		"box of uint8, shape [2 3], from 0 to 255":            space.Box{Low: []float64{0}, High: slices.Repeat([]float64{255}, 6), Shape: []int{2, 3}, Type: space.Uint8},
		"box of float64, shape [], from -Inf to 1":            space.Box{Low: []float64{math.Inf(-1)}, High: []float64{1}},
		"box of int64, shape [2], from [0 1] to 9":            space.Box{Low: []float64{0, 1}, High: []float64{9}, Shape: []int{2}, Type: space.Int64},
	} {
		if got := inWords(s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A schema that refers to itself ends.
func TestReadParamsRecursive(t *testing.T) {
	params, err := readParams(json.RawMessage(`{"$ref": "#/$defs/T", "$defs": {"T": {"type": "object", "properties": {"t": {"$ref": "#/$defs/T"}}}}}`))
	if err != nil || len(params) == 0 || len(params) > 20 {
		t.Errorf("%d parameters, %v", len(params), err)
	}
}

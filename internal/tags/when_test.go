package tags

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

type prior struct {
	Kind string  `json:"kind"`
	Low  float64 `json:"low" when:"kind=uniform"`
}

type effects struct {
	prior   `json:"-"`
	Replays int      `json:"replays"`
	Power   float64  `json:"power" when:"kind=a|b and replays=0 or replays!=0"`
	Map     []string `json:"map"`
	Rows    int      `json:"rows" when:"map=none"`
	Prior   prior    `json:"prior" when:"map!=none"`
}

// A parameter is refused where no alternative of its tag holds, with what is in the way and
// with what it has an effect.
func TestCheckEffect(t *testing.T) {
	for given, want := range map[string]string{
		`{}`: "", `null`: "", `{"power":1,"kind":"a"}`: "", `{"power":1,"replays":2}`: "", `{"rows":3}`: "",
		`{"power":1,"kind":"c"}`:                           "power has no effect with kind c and replays 0: leave it out, or give it with kind a or b and replays 0, or with a replays other than 0",
		`{"map":["x"],"rows":3}`:                           "rows has no effect with map given: leave it out, or give it without map",
		`{"map":["x"],"prior":{"low":1}}`:                  "prior.low has no effect without kind: leave it out, or give it with kind uniform",
		`{"map":["x"],"prior":{"kind":"uniform","low":1}}`: "",
		`{"prior":{}}`:                                     "prior has no effect without map: leave it out, or give it with a map",
	} {
		var p effects
		must.Do(t, json.Unmarshal([]byte(given), &p))
		var kind struct{ Kind string }
		must.Do(t, json.Unmarshal([]byte(given), &kind))
		p.prior.Kind = kind.Kind
		got := ""
		if err := CheckEffect([]byte(given), &p); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", given, got, want)
		}
	}
}

// What the documentation says is the tag in words.
func TestEffects(t *testing.T) {
	want := map[string]string{
		"low": "with kind uniform", "prior.low": "with kind uniform", "rows": "without map", "prior": "with a map",
		"power": "with kind a or b and replays 0, or with a replays other than 0",
	}
	got := map[string]string{}
	for name, effect := range Effects(&effects{}) {
		got[name] = effect.Words
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

// A condition may compare two parameters.
func TestHoldsComparesParameters(t *testing.T) {
	values := map[string]string{"start": "1", "end": "0.1", "kind": "none"}
	value := func(name string) string { return values[name] }
	for when, want := range map[string]bool{"start!=@end": true, "start=@end": false, "start=@start and kind=none": true, "end=@start|0.1": true, "kind=a or end!=0.1": false} {
		if Holds(when, value) != want {
			t.Errorf("%s: want %t", when, want)
		}
	}
}

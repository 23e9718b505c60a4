package plugins

import (
	"encoding/json"
	"errors"
	"maps"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/rltest"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/plugins/plugintest"
)

// Every bundled agent follows the laws of agents, or says that it breaks them by
// design, and why.
func TestAgentsFollowTheLaws(t *testing.T) {
	params := map[string]json.RawMessage{"rlrun/bandit@1": json.RawMessage(`{"policy":{"kind":"optimistic-stochastic"}}`)}
	slow := map[string]bool{ // seconds each
		"rlrun/bayesian-q@1": true, "rlrun/psrl@1": true, "rlrun/boss@1": true, "rlrun/bootstrap-model@1": true,
		"rlrun/mbie-eb@1": true, "rlrun/beb@1": true, "rlrun/optimistic-model@1": true,
	}
	for _, p := range All() {
		d, err := p.Describe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if d.Kind != vector.KindAgent {
			continue
		}
		t.Run(d.ID, func(t *testing.T) {
			if testing.Short() && slow[d.ID] {
				t.Skip("-short: this agent takes seconds")
			}
			switch err := rltest.CheckLaws(t.Context(), p, params[d.ID]); {
			case errors.Is(err, framework.ErrUnsupported):
				t.Skip(err)
			case err != nil:
				t.Error(err)
			}
		})
	}
}

// What an agent declares crosses the seam.
func TestDeclaredLawsCrossTheSeam(t *testing.T) {
	want, err := bundled("psrl").Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := plugintest.Loopback(t, bundled("psrl")).Describe(t.Context())
	if err != nil || len(want.Breaks) == 0 || !maps.Equal(got.Breaks, want.Breaks) {
		t.Errorf("%v, %v, want %v", got.Breaks, err, want.Breaks)
	}
}

package plugins

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/rltest"
	"github.com/rlrun/rlrun/framework/vector"
)

// Every bundled agent follows the laws of agents, or says that it breaks them by
// design, and why.
func TestAgentsFollowTheLaws(t *testing.T) {
	params := map[string]json.RawMessage{"rlrun/bandit@1": json.RawMessage(`{"policy":{"kind":"optimistic-stochastic"}}`)}
	slow := map[string]bool{ // seconds each
		"rlrun/bayesian-q@1": true, "rlrun/psrl@1": true, "rlrun/boss@1": true, "rlrun/bootstrap-model@1": true,
		"rlrun/mbie-eb@1": true, "rlrun/optimistic-model@1": true,
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

package banditagent

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/bandit/policy"
	"github.com/rlrun/rlrun/internal/must"
)

// The schema allows the policies and beliefs that there are.
func TestSchemaHasAllKinds(t *testing.T) {
	d := must.Get(Plugin().Describe(t.Context()))(t)
	var s struct {
		Properties map[string]struct {
			Properties map[string]struct{ Enum []string }
		}
	}
	must.Do(t, json.Unmarshal(d.Params, &s))
	if got := s.Properties["policy"].Properties["kind"].Enum; !slices.Equal(got, policy.Kinds()) {
		t.Errorf("policies %v, want %v", got, policy.Kinds())
	}
	if got := s.Properties["belief"].Properties["kind"].Enum; !slices.Equal(got, policy.BeliefKinds()) {
		t.Errorf("beliefs %v, want %v", got, policy.BeliefKinds())
	}
}

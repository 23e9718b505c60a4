package banditagent

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/bandit/policy"
)

// The schema allows the policies and beliefs that there are.
func TestSchemaHasAllKinds(t *testing.T) {
	d, err := Plugin().Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Properties map[string]struct {
			Properties map[string]struct{ Enum []string }
		}
	}
	if err := json.Unmarshal(d.Params, &s); err != nil {
		t.Fatal(err)
	}
	if got := s.Properties["policy"].Properties["kind"].Enum; !slices.Equal(got, policy.Kinds()) {
		t.Errorf("policies %v, want %v", got, policy.Kinds())
	}
	if got := s.Properties["belief"].Properties["kind"].Enum; !slices.Equal(got, policy.BeliefKinds()) {
		t.Errorf("beliefs %v, want %v", got, policy.BeliefKinds())
	}
}

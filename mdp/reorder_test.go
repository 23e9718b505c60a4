package mdp_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// To reorder actions and to put them back leaves the model as it was; each row is where the
// order says.
func TestReordered(t *testing.T) {
	cliff := must.Get(catalog.CliffWalking())(t)
	m, order, inverse := cliff.Model, []int{2, 0, 3, 1}, []int{1, 3, 0, 2}
	other := must.Get(m.Reordered("other", order))(t)
	if other.Name() != "other" {
		t.Errorf("name %q", other.Name())
	}
	if names := other.ActionNames(); !slices.Equal(names, []string{"down", "up", "left", "right"}) {
		t.Errorf("names of actions %v", names)
	}
	for s := range m.NumStates() {
		for a, b := range order {
			next, _ := other.Transition(s, a)
			want, _ := m.Transition(s, b)
			if !slices.Equal(next, want) || other.Reward(s, a) != m.Reward(s, b) {
				t.Fatalf("action %d of state %d leads to %v, not as action %d before to %v", a, s, next, b, want)
			}
		}
	}
	back := must.Get(other.Reordered(m.Name(), inverse))(t)
	got, _ := json.Marshal(back)
	want, _ := json.Marshal(m)
	if string(got) != string(want) {
		t.Error("a model that was put back is another one")
	}
	for _, wrong := range [][]int{nil, {0, 1, 2}, {0, 1, 2, 2}, {0, 1, 2, 4}, {-1, 0, 1, 2}} {
		if _, err := m.Reordered("wrong", wrong); err == nil {
			t.Errorf("order %v is taken", wrong)
		}
	}
}

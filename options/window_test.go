package options

import (
	"math"
	"testing"

	"github.com/rlrun/rlrun/mdp"
)

func TestWindow(t *testing.T) {
	for _, c := range []struct {
		o      WindowOptions
		mixing int
		want   Window
	}{
		{WindowOptions{}, 7, Window{7, 7, false}},
		{WindowOptions{}, 1000, Window{1000, 1000, false}},
		{WindowOptions{}, 1001, Window{1000, 1001, true}},
		{WindowOptions{}, mdp.Never, Window{1000, mdp.Never, true}},
		{WindowOptions{Cap: 5}, 7, Window{5, 7, true}},
		{WindowOptions{Floor: 10}, 7, Window{10, 7, false}},
		{WindowOptions{Floor: 10, Cap: 5}, 70, Window{10, 70, true}},
		{WindowOptions{Scale: 0.125}, 7, Window{1, 7, false}},
		{WindowOptions{Scale: 2.5}, 7, Window{18, 7, false}},
		{WindowOptions{Scale: 1e300}, math.MaxInt - 1, Window{1000, math.MaxInt - 1, true}},
	} {
		if got := c.o.Window(c.mixing); got != c.want {
			t.Errorf("%+v: T_ε = %d gives %+v, want %+v", c.o, c.mixing, got, c.want)
		}
	}
	// Staying or moving, whichever: after staying in two copies of state 0 and 1 the
	// difference is for ever if the policy stays.
	m := twoStates(t)
	stay := NewWindowEstimator(WindowOptions{Cap: 9})
	models := func() []*mdp.Tabular { return []*mdp.Tabular{m, m} }
	w, err := stay.Window(mdp.Constant(2, 0), 1, models)
	if err != nil || w != (Window{9, mdp.Never, true}) {
		t.Errorf("window %+v, %v, of a policy that stays for ever", w, err)
	}
	fixed, err := NewWindowEstimator(WindowOptions{Fixed: 3}).Window(nil, 0, nil)
	if err != nil || fixed != (Window{Steps: 3}) {
		t.Errorf("fixed window %+v, %v", fixed, err)
	}
	if _, err := NewWindowEstimator(WindowOptions{}).Window(mdp.Constant(2, 9), 1, models); err == nil {
		t.Error("a policy without such an action has a window")
	}
}

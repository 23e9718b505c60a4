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
		{WindowOptions{}, 7, Window{7, 7, false, 0}},
		{WindowOptions{}, 1000, Window{1000, 1000, false, 0}},
		{WindowOptions{}, 1001, Window{1000, 1001, true, 0}},
		{WindowOptions{}, mdp.Never, Window{1000, mdp.Never, true, 0}},
		{WindowOptions{Cap: 5}, 7, Window{5, 7, true, 0}},
		{WindowOptions{Floor: 10}, 7, Window{10, 7, false, 0}},
		{WindowOptions{Floor: 10, Cap: 5}, 70, Window{10, 70, true, 0}},
		{WindowOptions{Scale: 0.125}, 7, Window{1, 7, false, 0}},
		{WindowOptions{Scale: 2.5}, 7, Window{18, 7, false, 0}},
		{WindowOptions{Scale: 1e300}, math.MaxInt - 1, Window{1000, math.MaxInt - 1, true, 0}},
		{WindowOptions{Return: true}, 7, Window{7, 7, false, 14}},
		{WindowOptions{Return: true, Scale: 3}, 7, Window{21, 7, false, 28}},
		{WindowOptions{Return: true, Floor: 10}, 7, Window{10, 7, false, 20}},
		{WindowOptions{Return: true, Cap: 5}, 7, Window{5, 7, true, 10}},
		{WindowOptions{Return: true, Scale: 0.5}, mdp.Never, Window{1000, mdp.Never, true, 2000}},
		{WindowOptions{Return: true, Fixed: 3}, 7, Window{Steps: 3}},
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
	if err != nil || w != (Window{9, mdp.Never, true, 0}) {
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

package options

import (
	"math"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// The bonuses of Dyna-Q+ and MBIE-EB, and what they lead to.
func TestVisits(t *testing.T) {
	v := must.Get(NewVisits(2, 2))(t)
	for range 3 {
		v.Update(0, 0)
	}
	v.Update(1, 1)
	if v.Count(0, 0) != 3 || v.Age(0, 0) != 1 || v.Count(1, 0) != 0 || v.Age(1, 0) != 4 || v.Age(1, 1) != 0 {
		t.Errorf("visits %+v", v)
	}
	if got := v.RecencyBonus(0.5)(1, 0); got != 1 {
		t.Errorf("bonus %v of Dyna-Q+ after 4 steps, want 0.5·2", got)
	}
	if got, never := v.CountBonus(2)(0, 0), v.CountBonus(2)(0, 1); got != 2/math.Sqrt(3) || never != 2 {
		t.Errorf("bonus %v after 3 visits and %v without", got, never)
	}
	m := twoStates(t)
	both := must.Get(addBonus(m, func(s, a int) float64 { return float64(10*s + a) }, false))(t)
	alone := must.Get(addBonus(m, func(s, a int) float64 { return float64(10*s + a) }, true))(t)
	for s := range 2 {
		for a := range 2 {
			bonus := float64(10*s + a)
			if both.Reward(s, a) != bonus+m.Reward(s, a) || alone.Reward(s, a) != bonus {
				t.Errorf("rewards %v and %v", both.Reward(s, a), alone.Reward(s, a))
			}
		}
	}
	if _, err := NewVisits(0, 1); err == nil {
		t.Error("visits of no state")
	}

	// In state 1 nothing is new but moving, in state 0 nothing but staying: the
	// policy for novelty moves there and stays, where there is no reward.
	for range 100 {
		v.Update(0, 1)
		v.Update(1, 0)
	}
	red := must.Get(reduce([]*mdp.Tabular{m}, ReduceConfig{Kinds: []Kind{CountBonus}, Visits: v}))(t)
	if pi := red.Candidates[1].Policy.(mdp.Deterministic); !slices.Equal(pi, mdp.Deterministic{0, 1}) {
		t.Errorf("novelty is sought by %v", pi)
	}
}

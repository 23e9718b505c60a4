package result

import "testing"

// A run that explores in one place with one action, and hopes for as much after 20 decisions
// as before, explores in vain; one that learns, moves or exploits between does not.
func TestInVain(t *testing.T) {
	run := func(n int, change func(i int, d *Decision)) (ds []Decision) {
		for i := range n {
			d := Decision{Step: i, State: 3, Action: 1, Option: "member 2", Explore: true, Delta: 0.5, P: 0.25}
			change(i, &d)
			ds = append(ds, d)
		}
		return ds
	}
	for name, tt := range map[string]struct {
		decisions []Decision
		want      bool
	}{
		"the same":       {run(20, func(int, *Decision) {}), true},
		"too few":        {run(19, func(int, *Decision) {}), false},
		"later":          {run(60, func(i int, d *Decision) { d.Explore = i >= 40 }), true},
		"other members":  {run(30, func(i int, d *Decision) { d.Option = string(rune('a' + i)) }), true},
		"no states":      {run(30, func(i int, d *Decision) { d.State, d.Option = -1, string(rune('a'+i)) }), false},
		"it learns":      {run(60, func(i int, d *Decision) { d.Delta /= float64(1 + i) }), false},
		"it moves":       {run(60, func(i int, d *Decision) { d.State = i % 7 }), false},
		"it exploits":    {run(60, func(i int, d *Decision) { d.Explore = i%10 != 0 }), false},
		"nothing hoped":  {run(60, func(_ int, d *Decision) { d.Delta, d.P = 0, 0 }), false},
		"it never would": {run(60, func(_ int, d *Decision) { d.Explore = false }), false},
		"none":           {nil, false},
	} {
		if got := inVain(tt.decisions); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

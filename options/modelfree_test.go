package options

import (
	"math"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/bandit"
)

// The model-free problem is that of the tables' values, in any state.
func TestValueTables(t *testing.T) {
	tables, err := NewValueTables(2, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	p := Problem{Hold: 4, Step: 9}
	greedy, err := tables.At(&p, []float64{2, 4, 6, 2, 1, 4}) // three members of two actions
	if err != nil || greedy != 1 {
		t.Fatalf("greedy action %d, %v", greedy, err)
	}
	want := []float64{2, 1, 2, 1, 3, 0.5, 2, 1, 2, 2, 3, 2}
	if !slices.Equal(p.Values, want) || !slices.Equal(p.Optimal, []float64{2, 3, 2}) || p.Hold != 4 || p.Step != 9 || p.Greedy != 0 {
		t.Errorf("problem %+v, want values %v", p, want)
	}
	if greedy, err := tables.At(&Problem{}, []float64{2, 2, 3, 3}); err != nil || greedy != 0 {
		t.Errorf("of equal actions %d is greedy, %v", greedy, err)
	}
	if _, err := tables.At(&p, []float64{2, 4, 6, 2, 1, 4}); err != nil {
		t.Fatal(err)
	}
	names := ""
	for _, a := range p.Arms {
		names += a.Name + ";"
	}
	if names != "greedy;action 0;action 1;member;" {
		t.Errorf("options %s", names)
	}
	// The greedy action's own option never has an advantage.
	p.Arms = p.Arms[:3]
	p.Values = p.Values[:9]
	for _, score := range []Score{Paired, MeanValue, Index} {
		d, err := Decide(Rule{Score: score, Horizon: bandit.Discounted(0)}, &p, nil)
		if err != nil || d.Choice == 2 {
			t.Errorf("%v: %+v, %v", score, d, err)
		}
	}
	for _, bad := range [][]float64{nil, {1}} {
		if _, err := tables.At(&p, bad); err == nil {
			t.Errorf("values %v were taken", bad)
		}
	}
	if _, err := NewValueTables(2, 1); err == nil {
		t.Error("a discount of one was taken")
	}
	if greedy, err := tables.At(&p, []float64{math.NaN(), 1}); err != nil || p.Check() == nil {
		t.Errorf("NaN passes for greedy action %d, %v", greedy, err)
	}
}

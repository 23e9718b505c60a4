package mdp

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A solver that has solved other models gives what a new one does, whatever their
// sizes, and solves one of the same size without allocating.
func TestFiniteSolver(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var f FiniteSolver
	for range 50 {
		n, actions, horizon := 1+rng.IntN(4), 1+rng.IntN(3), rng.IntN(5)
		d, err := NewDirichlet(DirichletPrior{States: n, Actions: actions})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			m := d.Sample(rng)
			got, err := f.Solve(m, horizon)
			if err != nil {
				t.Fatal(err)
			}
			want, err := SolveFinite(m, horizon)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Value) != horizon+1 || len(got.Policy) != horizon+1 || got.Policy[0] != nil {
				t.Fatalf("%d values and %d policies of %d steps", len(got.Value), len(got.Policy), horizon)
			}
			for h := range got.Value {
				if !slices.Equal(got.Value[h], want.Value[h]) || !slices.Equal(got.Policy[h], want.Policy[h]) {
					t.Fatalf("%d steps to go: %v, %v, want %v, %v", h, got.Value[h], got.Policy[h], want.Value[h], want.Policy[h])
				}
			}
			if n := testing.AllocsPerRun(10, func() { f.Solve(m, horizon) }); n != 0 {
				t.Fatalf("%v allocations", n)
			}
		}
	}
}

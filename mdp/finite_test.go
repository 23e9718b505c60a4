package mdp

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

// A solver that has solved other models gives what a new one does, whatever their
// sizes, and solves one of the same size without allocating.
func TestFiniteSolver(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var f FiniteSolver
	for range 50 {
		n, actions, horizon := 1+rng.IntN(4), 1+rng.IntN(3), rng.IntN(5)
		d := must.Get(NewDirichlet(DirichletPrior{States: n, Actions: actions}))(t)
		for range 2 {
			m := d.Sample(rng)
			got := must.Get(f.Solve(m, horizon))(t)
			want := must.Get(SolveFinite(m, horizon))(t)
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

// Long horizons are summed at once where every step adds the same, to the stated error:
// against step by step. A periodic model is summed step by step.
func TestLongHorizon(t *testing.T) {
	const horizon = 1_200_001
	for name, rows := range map[string][][]float64{
		"aperiodic": {{0.5, 0.5, 0}, {0, 0.9, 0.1}, {1, 0, 0}},
		"periodic":  {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}},
		"ending":    {{0, 1, 0}, {0, 0, 1}, {0, 0, 1}},
	} {
		m := must.Get(Generate(Definition{States: 3, Actions: 2}, func(s, a int, row *Row) {
			reward := float64(3-s-a) / 3
			if name == "ending" && s == 2 {
				reward = 0
			}
			for next, p := range rows[s] {
				if p > 0 {
					row.AddRewarded(next, p, reward)
				}
			}
		}))(t)
		got, policy := must.Get2(SolveHorizon(m, horizon))(t)
		want, w, best := make([]float64, 3), make([]float64, 3), make(Deterministic, 3)
		for range horizon {
			m.induct(w, best, want)
			want, w = w, want
		}
		c := must.Get(Induce(m, policy))(t)
		evaluated := c.EvaluateFinite(horizon)
		for s, x := range want {
			if math.Abs(got[s]-x) > 1e-9*maxAbs(want) || policy[s] != best[s] {
				t.Errorf("%s: state %d: %v by %d, want %v by %d", name, s, got[s], policy[s], x, best[s])
			}
			if math.Abs(evaluated[s]-x) > 1e-9*maxAbs(want) { // the same policy is the best at any time
				t.Errorf("%s: the policy earns %v from state %d, want %v", name, evaluated[s], s, x)
			}
		}
	}
	m := must.Get(Generate(Definition{States: 2, Actions: 1}, func(s, _ int, row *Row) {
		row.AddRewarded(s, 0.5, 1)
		row.AddRewarded(1-s, 0.5, 1)
	}))(t)
	if v, _, err := SolveHorizon(m, 1e15); err != nil || math.Abs(v[0]-1e15) > 1e6 {
		t.Errorf("%v, %v", v, err)
	}
}

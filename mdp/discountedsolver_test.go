package mdp_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// Iteration and elimination agree within the residual that was asked for, whatever
// the start: for random models, some with sets of states that are hardly ever
// left.
func TestDiscountedSolverAgreesWithElimination(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, actions := rapid.IntRange(1, 60).Draw(t, "states"), rapid.IntRange(1, 3).Draw(t, "actions")
		gamma := rapid.SampledFrom([]float64{0, 0.5, 0.99, 0.9999}).Draw(t, "gamma")
		leak := rapid.SampledFrom([]float64{1, 0.1, 1e-6}).Draw(t, "leak")
		residual := rapid.SampledFrom([]float64{1e-3, 1e-6, 1e-9}).Draw(t, "residual")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		m := must.Get(mdp.Generate(mdp.Definition{States: n, Actions: actions}, func(s, a int, row *mdp.Row) {
			row.Add((s+a)%n, 1-leak)
			for range 3 {
				row.Add(rng.IntN(n), leak/3)
			}
			row.Reward(rng.NormFloat64())
		}))(t)
		v, pi := make([]float64, n), make(mdp.Deterministic, n)
		for s := range v {
			v[s], pi[s] = rapid.SampledFrom([]float64{0, 1, 1e4}).Draw(t, "start")*rng.NormFloat64(), rng.IntN(actions)
		}
		// The residual is found from values of up to a few times 1e4.
		rounding := 1e-11 / (1 - gamma)
		var solver mdp.DiscountedSolver
		c := must.Get(mdp.Induce(m, pi))(t)
		exact := must.Get(c.EvaluateDiscounted(gamma))(t)
		got, err := solver.Evaluate(v, m, pi, gamma, residual)
		if err != nil || got > residual {
			t.Fatalf("residual %v, %v", got, err)
		}
		compare(t, "value", v, exact, rounding+got/(1-gamma))
		best := must.Get(mdp.SolveDiscounted(m, gamma, mdp.SolverConfig{Method: mdp.PolicyIteration}))(t)
		if got, err = solver.Solve(v, pi, m, gamma, residual); err != nil || got > residual {
			t.Fatalf("residual of the optimum %v, %v", got, err)
		}
		compare(t, "optimal value", v, best.Value, rounding+got/(1-gamma)+best.Bound)
		c = must.Get(mdp.Induce(m, pi))(t)
		exact = must.Get(c.EvaluateDiscounted(gamma))(t)
		compare(t, "value of the policy", exact, best.Value, rounding+2*got/(1-gamma)+best.Bound)
	})
}

func compare(t *rapid.T, what string, got, want []float64, within float64) {
	for s, x := range want {
		if !(math.Abs(got[s]-x) <= within) {
			t.Fatalf("%s of state %d is %v, should be within %v of %v", what, s, got[s], within, x)
		}
	}
}

// A chain whose states lead to close ones is eliminated within its band, a wider one by GMRES.
// Both agree with elimination without a band, whatever the discount.
func TestNarrowChains(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for _, width := range []int{0, 1, 2, 8, 9} {
		for _, gamma := range []float64{0, 0.9, 0.999999} {
			const n = 160
			m := must.Get(mdp.Generate(mdp.Definition{States: n, Actions: 1}, func(s, _ int, row *mdp.Row) {
				low, high := max(0, s-width), min(n-1, s+width)
				p := rng.Float64()
				row.Add(low+rng.IntN(high-low+1), p)
				row.Add(low+rng.IntN(high-low+1), 1-p)
				row.Reward(rng.NormFloat64())
			}))(t)
			want := must.Get(induced(t, m, make(mdp.Deterministic, n)).EvaluateDiscounted(gamma))(t)
			got := must.Get(mdp.SolveDiscounted(m, gamma, mdp.SolverConfig{}))(t)
			for s, v := range got.Value {
				if !near(v, want[s], got.Bound) {
					t.Fatalf("width %d, discount %v: state %d is worth %v ± %v, want %v", width, gamma, s, v, got.Bound, want[s])
				}
			}
		}
	}
}

// One state takes no iteration.
func TestDiscountedSolverOneState(t *testing.T) {
	task := must.Get(catalog.Bandit([]float64{0.25, 0.75}))(t)
	var solver mdp.DiscountedSolver
	v, pi := []float64{7}, mdp.Deterministic{0}
	if got, err := solver.Solve(v, pi, task.Model, 0.5, 1e-12); err != nil || got != 0 || v[0] != 1.5 || pi[0] != 1 {
		t.Errorf("policy %v is worth %v, residual %v, %v", pi, v, got, err)
	}
}

func TestDiscountedSolverRefusals(t *testing.T) {
	task := must.Get(catalog.FourRooms(true))(t)
	m := task.Model
	n := m.NumStates()
	var solver mdp.DiscountedSolver
	for name, err := range map[string]error{
		"discount": second(solver.Evaluate(make([]float64, n), m, mdp.Constant(n, 0), 1, 1e-6)),
		"value":    second(solver.Evaluate(make([]float64, 3), m, mdp.Constant(n, 0), 0.9, 1e-6)),
		"policy":   second(solver.Solve(make([]float64, n), mdp.Constant(n, 9), m, 0.9, 1e-6)),
	} {
		if err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := solver.Evaluate(make([]float64, n), m, mdp.Constant(n, 0), 0.99, 1e-30); !errors.Is(err, mdp.ErrNotConverged) {
		t.Errorf("a residual below rounding: %v", err)
	}
}

func second(_ float64, err error) error { return err }

// The default finds the optimum in at most 2,500 sweeps, whatever the shape of the model:
// mixing fast or slowly, absorbing or not. Small models, and those that absorb, are compared
// with sweeps alone, which take up to 9,000. The oracle of the others is Bellman's equation: a
// value that one step of it changes by at most x is within x/(1−γ) of the optimum (Puterman
// 1994, §6.3).
func TestDefaultMethod(t *testing.T) {
	for _, n := range []int{101, 300, 1000} {
		for name, m := range models(t, n) {
			for _, gamma := range []float64{0.5, 0.99, 0.999} {
				o := mdp.SolverConfig{Tolerance: 1e-7 / (1 - gamma)}
				got := must.Get(mdp.SolveDiscounted(m, gamma, o))(t)
				if limit := 250; got.Sweeps > limit {
					t.Errorf("%s of %d states, discount %v: %d sweeps", name, n, gamma, got.Sweeps)
				}
				if n > 101 && name != "absorbs" {
					if off := residual(m, gamma, got.Value) / (1 - gamma); !(off <= 1.01*o.Tolerance) || !(got.Bound <= o.Tolerance) {
						t.Errorf("%s of %d states, discount %v: up to %v from the optimum, said to be %v, want %v", name, n, gamma, off, got.Bound, o.Tolerance)
					}
					continue
				}
				o.Method = mdp.ValueIteration
				want := must.Get(mdp.SolveDiscounted(m, gamma, o))(t)
				for s, v := range got.Value {
					if !(math.Abs(v-want.Value[s]) <= got.Bound+want.Bound) {
						t.Fatalf("%s of %d states, discount %v: state %d is worth %v ± %v, by sweeps alone %v ± %v", name, n, gamma, s, v, got.Bound, want.Value[s], want.Bound)
					}
				}
			}
		}
	}
}

// residual is the largest change of a value by a step of Bellman's equation.
func residual(m *mdp.Tabular, gamma float64, v []float64) (largest float64) {
	for s := range v {
		best := math.Inf(-1)
		for a := range m.NumActions() {
			q := m.Reward(s, a)
			next, prob := m.Transition(s, a)
			for k, u := range next {
				q += gamma * prob[k] * v[u]
			}
			best = max(best, q)
		}
		largest = max(largest, math.Abs(best-v[s]))
	}
	return largest
}

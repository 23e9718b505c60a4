package mdp

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

// walk is a chain on n states that mostly moves on around a circle, with some
// random jumps: nearly periodic, so hard for plain iterations.
func walk(t *testing.T, n int, jump float64, seed uint64) *Chain {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0))
	m := must.Get(Generate(Definition{States: n, Actions: 1}, func(s, _ int, row *Row) {
		row.Add((s+1)%n, 1-jump)
		row.Add(rng.IntN(n), jump)
		row.Reward(rng.NormFloat64())
	}))(t)
	return must.Get(Induce(m, Uniform{}))(t)
}

// The solvers of large chains agree with the direct solution of small ones.
func TestIterationAgainstElimination(t *testing.T) {
	for seed := range uint64(4) {
		for _, jump := range []float64{0, 0.01, 0.5} {
			c := walk(t, 120, jump, seed)
			n := c.NumStates()
			st := c.Structure()
			class := st.Classes[st.Closed[0]]
			want, got := make([]float64, n), make([]float64, n)
			c.gth(want, class)
			must.Do(t, c.iterateStationary(got, class))
			for s := range want {
				if !within(got[s], want[s], 1e-9) {
					t.Fatalf("jump %v: stationary probability %v, want %v", jump, got[s], want[s])
				}
			}
			gain, bias := must.Get2(c.EvaluateAverage())(t)
			g, h := must.Get2(c.iterateAverage())(t)
			for s := range gain {
				if !within(g[s], gain[s], 1e-8) || !within(h[s], bias[s], 1e-4) {
					t.Fatalf("jump %v: gain %v, bias %v; want %v, %v", jump, g[s], h[s], gain[s], bias[s])
				}
			}
		}
	}
}

// Absorption in large transient classes, by sweeps, agrees with elimination.
func TestAbsorptionAgainstElimination(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 0))
	const n = 60
	m, err := Generate(Definition{States: n, Actions: 1}, func(s, _ int, row *Row) {
		switch {
		case s == 0: // a closed class of period 2
			row.Add(1, 1)
		case s == 1:
			row.Add(0, 1)
		case s == 2: // and one of period 1
			row.Add(2, 1)
		default:
			for range 3 {
				row.Add(rng.IntN(n), 1.0/3)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	c := must.Get(Induce(m, Uniform{}))(t)
	st := c.Structure()
	f := must.Get(c.fate(st))(t)
	if f.slots != 3 {
		t.Fatalf("%d slots", f.slots)
	}
	for _, i := range st.order {
		if st.closed[i] {
			continue
		}
		for _, target := range st.Closed {
			exact := map[int][]float64{}
			for _, s := range st.Classes[i] {
				exact[s] = append([]float64(nil), f.share[s]...)
				clear(f.share[s][f.first[target] : f.first[target]+st.Period[target]])
			}
			if err := c.absorbLarge(f, st.Classes[i], target, 3); err == nil && len(st.Classes[i]) > 10 {
				t.Error("no error after 3 sweeps")
			}
			must.Do(t, c.absorbLarge(f, st.Classes[i], target, mostSweeps))
			for s, want := range exact {
				sum := 0.0
				for slot, x := range want {
					sum += x
					if !within(f.share[s][slot], x, 1e-12) {
						t.Fatalf("state %d ends in slot %d with %v, want %v", s, slot, f.share[s][slot], x)
					}
				}
				if !within(sum, 1, 1e-12) {
					t.Fatalf("state %d ends somewhere with probability %v", s, sum)
				}
			}
		}
	}
}

// Both average-reward methods find one gain where the best policy runs through
// long cycles, and the bound of either holds.
func TestAverageOnCycles(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 0))
	const n = 90
	m := must.Get(Generate(Definition{States: n, Actions: 2}, func(s, a int, row *Row) {
		row.Add((s+1+a)%n, 0.95)
		row.Add(0, 0.05)
		row.Reward(rng.Float64())
	}))(t)
	exact := must.Get(SolveAverage(m, SolverConfig{Method: PolicyIteration}))(t)
	for _, tolerance := range []float64{1e-2, 1e-5, 1e-9} {
		sol := must.Get(SolveAverage(m, SolverConfig{Method: ValueIteration, Tolerance: tolerance}))(t)
		if d := math.Abs(sol.Gain[0] - exact.Gain[0]); d > sol.Bound+exact.Bound || sol.Bound > 2*tolerance {
			t.Errorf("gain %v ± %g, want %v ± %g", sol.Gain[0], sol.Bound, exact.Gain[0], exact.Bound)
		}
	}
}

// The queue of prioritised sweeping gives states by order of magnitude, those of
// one first in, first out, each once and at its largest priority.
func TestQueue(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 0))
	const n = 50
	q := NewQueue(n, 1)
	type entry struct{ order, magnitude int }
	held := map[int]entry{}
	for i := range 20_000 {
		if rng.IntN(3) > 0 {
			s, priority := rng.IntN(n), math.Exp2(-200*rng.Float64()*rng.Float64())
			q.Raise(s, priority)
			_, exponent := math.Frexp(priority)
			magnitude := min(1-exponent, 127) // from list 0, of 1 itself, down
			if e, ok := held[s]; !ok || magnitude < e.magnitude {
				held[s] = entry{i, magnitude}
			}
			continue
		}
		want, best := -1, entry{}
		for s, e := range held {
			if want < 0 || e.magnitude < best.magnitude || e.magnitude == best.magnitude && e.order < best.order {
				want, best = s, e
			}
		}
		if got := q.Pop(); got != want {
			t.Fatalf("step %d: state %d, want %d", i, got, want)
		}
		delete(held, want)
	}
}

// Solvers of large models say how far they are: sweeps grow and bounds shrink.
func TestProgress(t *testing.T) {
	const n, gamma = 600, 0.9
	m := must.Get(Generate(Definition{States: n, Actions: 2}, func(s, a int, row *Row) {
		row.Add((s+1+a*(n-2))%n, 1) // to either neighbour on a ring
		if s == n/2 && a == 0 {
			row.Reward(1)
		}
	}))(t)
	calls, last := 0, 0
	var bounds []float64
	o := SolverConfig{Progress: func(sweeps int, bound float64) {
		if calls++; sweeps <= last {
			t.Errorf("%d sweeps after %d", sweeps, last)
		}
		last, bounds = sweeps, append(bounds, bound)
	}}
	for name, solve := range map[string]func() (*Solution, error){
		"average":    func() (*Solution, error) { return SolveAverage(m, o) },
		"discounted": func() (*Solution, error) { return SolveDiscounted(m, gamma, o) },
	} {
		calls, last, bounds = 0, 0, nil
		s := must.Get(solve())(t)
		if calls == 0 || !(s.Bound < bounds[0]) || bounds[len(bounds)-1] > bounds[0] || last >= s.Sweeps {
			t.Errorf("%s: %d calls, bounds %v and at last %v, sweeps %d and at last %d", name, calls, bounds, s.Bound, last, s.Sweeps)
		}
	}
}

package mdp_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// garnet draws a random model; with branching one it is deterministic, hence
// often periodic, reducible or multichain.
func garnet(t *rapid.T) *mdp.Tabular {
	n := rapid.IntRange(1, 9).Draw(t, "states")
	task := must.Get(catalog.Garnet(n, rapid.IntRange(1, 4).Draw(t, "actions"),
		rapid.IntRange(1, n).Draw(t, "branching"), rapid.Uint64().Draw(t, "seed")))(t)
	return task.Model
}

func policy(t *rapid.T, m mdp.Model) mdp.Deterministic {
	p := make(mdp.Deterministic, m.NumStates())
	for s := range p {
		p[s] = rapid.IntRange(0, m.NumActions()-1).Draw(t, "action")
	}
	return p
}

func induce(t *rapid.T, m mdp.Model, pi mdp.Policy) *mdp.Chain {
	return must.Get(mdp.Induce(m, pi))(t)
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

// Discounted solvers agree within their bounds, and with what their own policy
// earns.
func TestDiscountedSolversAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := garnet(t)
		gamma := rapid.SampledFrom([]float64{0, 0.5, 0.9, 0.99}).Draw(t, "gamma")
		tolerance := rapid.SampledFrom([]float64{1e-2, 1e-6, 1e-10}).Draw(t, "tolerance")
		exact := must.Get(mdp.SolveDiscounted(m, gamma, mdp.SolverConfig{Method: mdp.PolicyIteration}))(t)
		for _, method := range []mdp.Method{mdp.ValueIteration, mdp.ModifiedPolicyIteration} {
			sol := must.Get(mdp.SolveDiscounted(m, gamma, mdp.SolverConfig{Method: method, Tolerance: tolerance}))(t)
			if sol.Bound > 2*tolerance {
				t.Fatalf("method %d: bound %g for tolerance %g", method, sol.Bound, tolerance)
			}
			earned := must.Get(induce(t, m, sol.Policy).EvaluateDiscounted(gamma))(t)
			for s, v := range exact.Value {
				if !near(sol.Value[s], v, sol.Bound+exact.Bound) {
					t.Fatalf("method %d: value %v and %v differ by more than %g", method, sol.Value[s], v, sol.Bound+exact.Bound)
				}
				if loss := v - earned[s]; loss > 2*sol.Bound+exact.Bound {
					t.Fatalf("method %d: the policy loses %g, bound %g", method, loss, sol.Bound)
				}
			}
		}
	})
}

// Policy iteration finds the best gain of all deterministic policies, from every
// state at once, whatever the chain structure.
func TestAverageIsBestOfAllPolicies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "states")
		task := must.Get(catalog.Garnet(n, 2, rapid.IntRange(1, min(n, 2)).Draw(t, "branching"), rapid.Uint64().Draw(t, "seed")))(t)
		m := task.Model
		best := make([]float64, n)
		for s := range best {
			best[s] = math.Inf(-1)
		}
		for code := range 1 << n {
			p := make(mdp.Deterministic, n)
			for s := range p {
				p[s] = code >> s & 1
			}
			gain, _ := must.Get2(induce(t, m, p).EvaluateAverage())(t)
			for s, g := range gain {
				best[s] = max(best[s], g)
			}
		}
		sol := must.Get(mdp.SolveAverage(m, mdp.SolverConfig{Method: mdp.PolicyIteration}))(t)
		for s, g := range sol.Gain {
			if !near(g, best[s], 1e-9) {
				t.Fatalf("gain of state %d is %v, the best of all policies %v", s, g, best[s])
			}
		}
		rvi, err := mdp.SolveAverage(m, mdp.SolverConfig{Method: mdp.ValueIteration, Tolerance: 1e-8})
		var missing *mdp.MissingError
		switch {
		case errors.As(err, &missing):
			if mdp.ModelStructure(m).WeaklyCommunicating() {
				t.Fatalf("refused although weakly communicating: %v", err)
			}
		case err != nil:
			t.Fatal(err)
		case !near(rvi.Gain[0], best[0], rvi.Bound+1e-9):
			t.Fatalf("relative value iteration has gain %v ± %g, want %v", rvi.Gain[0], rvi.Bound, best[0])
		}
		for s := range best { // the bound holds, and a weakly communicating model has one gain
			if mdp.ModelStructure(m).WeaklyCommunicating() && !near(best[s], best[0], 1e-9) {
				t.Fatalf("weakly communicating, but gains %v", best)
			}
		}
	})
}

// The gain of a policy is the limit of (1−γ)V, the bias that of what remains
// (Puterman 1994, Corollary 8.2.4).
func TestGainIsTheLimitOfDiscounting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := garnet(t)
		c := induce(t, m, policy(t, m))
		gain, bias := must.Get2(c.EvaluateAverage())(t)
		const gamma = 1 - 0x1p-24 // exact, so that 1−γ is, too
		v := must.Get(c.EvaluateDiscounted(gamma))(t)
		slow := 1.0 // how slowly a chain mixes shows in the size of its bias
		for _, h := range bias {
			slow = max(slow, h*h)
		}
		if slow > 100 {
			t.Skip("nearly decomposable")
		}
		for s := range v {
			if !near((1-gamma)*v[s], gain[s], 1e-5) {
				t.Fatalf("(1-γ)V = %v, gain %v", (1-gamma)*v[s], gain[s])
			}
			if !near(v[s]-gain[s]/(1-gamma), bias[s], 1e-3) {
				t.Fatalf("V - g/(1-γ) = %v, bias %v", v[s]-gain[s]/(1-gamma), bias[s])
			}
		}
	})
}

// relabelled returns m with state s renamed to name[s].
func relabelled(t *rapid.T, m *mdp.Tabular, name []int) *mdp.Tabular {
	old := make([]int, len(name))
	for s, u := range name {
		old[u] = s
	}
	return must.Get(mdp.Generate(mdp.Definition{States: m.NumStates(), Actions: m.NumActions()}, func(u, a int, row *mdp.Row) {
		next, prob := m.Transition(old[u], a)
		for k, s := range next {
			row.Add(name[s], prob[k])
		}
		row.Reward(m.Reward(old[u], a))
	}))(t)
}

// Relabelling the states changes nothing but the labels.
func TestRelabelling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := garnet(t)
		name := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "permutation"), 0)).Perm(m.NumStates())
		w := relabelled(t, m, name)
		a := must.Get(mdp.SolveAverage(m, mdp.SolverConfig{}))(t)
		b := must.Get(mdp.SolveAverage(w, mdp.SolverConfig{}))(t)
		p := policy(t, m)
		q := make(mdp.Deterministic, len(p))
		for s, u := range name {
			q[u] = p[s]
			if !near(a.Gain[s], b.Gain[u], 1e-9) {
				t.Fatalf("gain %v becomes %v", a.Gain[s], b.Gain[u])
			}
		}
		before := must.Get(mdp.MixingTime(m, p, mdp.MixingConfig{Eta: 0.1}))(t)
		after := must.Get(mdp.MixingTime(w, q, mdp.MixingConfig{Eta: 0.1}))(t)
		for s, u := range name {
			for a, T := range before.T[s] {
				if !near(before.Limit[s][a], after.Limit[u][a], 1e-12) {
					t.Fatalf("limit %v becomes %v", before.Limit[s][a], after.Limit[u][a])
				}
				if T != after.T[u][a] { // only if d is at the threshold but for roundoff
					d := must.Get(mdp.Forgetting(m, p, s, a, min(T, after.T[u][a])))(t)
					if !near(d[len(d)-1], before.Epsilon, 1e-12) {
						t.Fatalf("T = %d becomes %d", T, after.T[u][a])
					}
				}
			}
		}
		x, y := induce(t, m, p).Structure(), induce(t, w, q).Structure()
		if len(x.Classes) != len(y.Classes) || len(x.Closed) != len(y.Closed) {
			t.Fatalf("%d classes, %d closed become %d, %d", len(x.Classes), len(x.Closed), len(y.Classes), len(y.Closed))
		}
		for s, u := range name {
			if x.Recurrent(s) != y.Recurrent(u) || x.Period[x.ClassOf[s]] != y.Period[y.ClassOf[u]] {
				t.Fatal("recurrence or period changed")
			}
		}
	})
}

// A solution is a fixed point: solving again from it improves nothing.
func TestWarmStart(t *testing.T) {
	var solver mdp.AverageSolver
	rapid.Check(t, func(t *rapid.T) {
		m := garnet(t)
		first := must.Get(solver.Solve(m, mdp.SolverConfig{Method: mdp.PolicyIteration}))(t)
		gain := append([]float64(nil), first.Gain...)
		again := must.Get(solver.Solve(m, mdp.SolverConfig{Method: mdp.PolicyIteration}))(t)
		if again.Improvements != 1 {
			t.Fatalf("%d improvements of an optimal policy", again.Improvements)
		}
		fresh := must.Get(mdp.SolveAverage(m, mdp.SolverConfig{Method: mdp.PolicyIteration}))(t)
		for s, g := range gain {
			if !near(g, fresh.Gain[s], 1e-9) {
				t.Fatalf("warm gain %v, cold %v", g, fresh.Gain[s])
			}
		}
	})
}

// A solver evaluates policies as their chains do, whatever it did before.
func TestEvaluate(t *testing.T) {
	var solver mdp.AverageSolver
	rapid.Check(t, func(t *rapid.T) {
		m := garnet(t)
		pi := policy(t, m)
		got := must.Get(solver.Evaluate(m, pi))(t)
		gain, bias := must.Get2(induce(t, m, pi).EvaluateAverage())(t)
		for s := range gain {
			if !near(got.Gain[s], gain[s], 1e-9) || !near(got.Bias[s], bias[s], 1e-9*(1+bias[s]*bias[s])) {
				t.Fatalf("gain %v, bias %v; want %v, %v", got.Gain, got.Bias, gain, bias)
			}
		}
	})
}

// Solving and evaluating a small model again allocates nothing.
func TestNoAllocation(t *testing.T) {
	task := must.Get(catalog.RiverSwim(6))(t)
	var solver mdp.AverageSolver
	pi := mdp.Constant(6, 1)
	if n := testing.AllocsPerRun(50, func() {
		if _, err := solver.Solve(task.Model, mdp.SolverConfig{}); err != nil {
			t.Error(err)
		}
		if _, err := solver.Evaluate(task.Model, pi); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// In which order a user lists something changes nothing.
func TestOrderOfLists(t *testing.T) {
	define := func() mdp.Definition {
		return mdp.Definition{
			States: 4, Actions: 2,
			Transitions: []mdp.Transition{{0, 0, 1, 0.25}, {0, 0, 2, 0.25}, {0, 0, 0, 0.5}, {0, 1, 3, 1}, {1, 0, 0, 1}, {1, 1, 2, 1}},
			Rewards:     []mdp.Reward{{0, 0, 1}, {1, 1, 2}}, SuccessorRewards: []mdp.SuccessorReward{{0, 1, 3, 5}, {1, 0, 0, 4}},
			GaussianNoise: []mdp.Reward{{0, 0, 1}, {1, 1, 2}},
			Initial:       []mdp.Weight{{0, 0.25}, {1, 0.75}}, Terminal: []int{2, 3},
		}
	}
	sorted := must.Get(json.Marshal(must.Get(mdp.NewModel(define()))(t)))(t)
	rapid.Check(t, func(t *rapid.T) {
		d := define()
		d.Transitions = rapid.Permutation(d.Transitions).Draw(t, "transitions")
		d.Rewards = rapid.Permutation(d.Rewards).Draw(t, "rewards")
		d.SuccessorRewards = rapid.Permutation(d.SuccessorRewards).Draw(t, "successor rewards")
		d.GaussianNoise = rapid.Permutation(d.GaussianNoise).Draw(t, "noise")
		d.Initial = rapid.Permutation(d.Initial).Draw(t, "initial")
		d.Terminal = rapid.Permutation(d.Terminal).Draw(t, "terminal")
		if got := must.Get(json.Marshal(must.Get(mdp.NewModel(d))(t)))(t); string(got) != string(sorted) {
			t.Fatalf("got %s, want %s", got, sorted)
		}
	})
}

package modelagents

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// continuing is finite without ends.
func continuing() framework.Spec {
	spec := agenttest.Finite
	spec.Continuing = true
	return spec
}

// The best distribution within an L1 ball solves a linear program.
func TestExpectIsTheLinearProgram(t *testing.T) {
	const n = 5
	rapid.Check(t, func(t *rapid.T) {
		counts := must.Get(mdp.NewCounts(n, 1))(t)
		total := 0.0
		for u := range n {
			for range rapid.IntRange(0, 3).Draw(t, "count") {
				counts.Update(0, 0, 0, u)
				total++
			}
		}
		if total == 0 {
			counts.Update(0, 0, 0, 2)
			total++
		}
		p := make([]float64, n)
		next, count := counts.Row(0, 0)
		for k, u := range next {
			p[u] = count[k] / total
		}
		value := rapid.SliceOfN(rapid.Float64Range(0, 10), n, n).Draw(t, "value")
		width := rapid.Float64Range(0, 2.5).Draw(t, "width")
		best := 0
		for u, v := range value {
			if v > value[best] {
				best = u
			}
		}
		x := &modelbased.Experience{Task: finite.Task{States: n, Actions: 1}, Counts: counts}
		m := &confidence{Data: modelbased.Data{Experience: x}, best: best, pairs: []confidencePair{{width: width}}}

		// Maximise Σ q v: q − d⁺ + d⁻ = p, Σ d⁺ + Σ d⁻ + slack = width, Σ q = 1.
		// All in nonnegative variables q, d⁺, d⁻, slack; the last row is implied by
		// the others only if Σ d⁺ = Σ d⁻.
		cost := make([]float64, 3*n+1)
		a, b := mat.NewDense(n+2, 3*n+1, nil), make([]float64, n+2)
		for u := range n {
			cost[u] = -value[u]
			a.Set(u, u, 1)
			a.Set(u, n+u, -1)
			a.Set(u, 2*n+u, 1)
			b[u] = p[u]
			a.Set(n, n+u, 1)
			a.Set(n, 2*n+u, 1)
			a.Set(n+1, u, 1)
		}
		a.Set(n, 3*n, 1)
		b[n], b[n+1] = width, 1
		opt, _, err := lp.Simplex(cost, a, b, 1e-10, nil)
		if err != nil {
			t.Skip("the linear program is degenerate:", err)
		}
		if got := m.expect(0, 0, value); math.Abs(got+opt) > 1e-7 {
			t.Fatalf("p %v, values %v, width %v: %v, want %v", p, value, width, got, -opt)
		}
	})
}

// Without uncertainty the plan is the model's: the gain that of policy iteration to
// the tolerance of the stopping rule.
func TestIterationFindsTheGain(t *testing.T) {
	for _, agent := range []string{"ucrl2", "kl-ucrl"} {
		t.Run(agent, func(t *testing.T) {
			x := newAgent(t, agent, `{"scaling":1e-9,"reward_low":0,"reward_high":1}`, continuing())
			p := x.Planner.(*modelbased.Extended)
			rng := rand.New(rand.NewPCG(1, 1))
			for s := range 3 {
				for a := range 2 {
					for range 200 {
						x.Counts.Update(s, a, rng.Float64(), rng.IntN(3))
					}
				}
			}
			sol := must.Get(mdp.SolveAverage(x.Counts.Empirical(), mdp.SolverConfig{}))(t)
			x.Begin(0)
			if tolerance := 1 / math.Sqrt(1201); math.Abs(p.Gain-sol.Gain[0]) > tolerance {
				t.Errorf("gain %v, want %v", p.Gain, sol.Gain[0])
			}
			if slices.Min(p.Value) != 0 {
				t.Errorf("values %v drift away", p.Value)
			}
			for s, a := range sol.Policy {
				if p.Policy[s] != a {
					t.Errorf("state %d: action %d, want %d", s, p.Policy[s], a)
				}
			}
		})
	}
}

// The widths of Jaksch et al. (2010), equations (3) and (4), by hand: S = 3, A = 2,
// δ = 0.1, rewards in [−1,1]; the pair was seen 4 times in 9 steps.
func TestWidths(t *testing.T) {
	x := newAgent(t, "ucrl2", `{"delta":0.1}`, continuing())
	for k := range 9 {
		s := 0
		if k >= 4 {
			s = 1
		}
		x.Counts.Update(s, 1, 0.5, 2)
	}
	m := x.Construction.(*confidence)
	m.Refresh()
	if want := 0.5 + 2*math.Sqrt(7*math.Log(2*3*2*10/0.1)/(2*4)); math.Abs(m.pairs[1].reward-want) > 1e-12 {
		t.Errorf("reward %v, want %v", m.pairs[1].reward, want)
	}
	if want := math.Sqrt(14 * 3 * math.Log(2*2*10/0.1) / 4); math.Abs(m.pairs[1].width-want) > 1e-12 {
		t.Errorf("width %v, want %v", m.pairs[1].width, want)
	}
	// One that was not seen is as wide as one seen once, around the smallest reward.
	if want := -1 + 2*math.Sqrt(7*math.Log(2*3*2*10/0.1)/2); math.Abs(m.pairs[0].reward-want) > 1e-12 {
		t.Errorf("reward of an unseen pair %v, want %v", m.pairs[0].reward, want)
	}
}

// tooGloomy counts the plans of n runs of 2000 steps on RiverSwim whose gain is
// below the optimum by more than the tolerance of the plan.
func tooGloomy(t *testing.T, agent, params string, n int) (below, plans int) {
	t.Helper()
	env := must.Get(find(t, "riverswim").OpenEnvironment(t.Context(), nil, 1))(t)
	models := must.Get(vector.Models(t.Context(), env))(t)
	m := models[0]
	best := must.Get(mdp.SolveAverage(m, mdp.SolverConfig{}))(t)
	spec := env.Spec()
	spec.Continuing = true
	x := newAgent(t, agent, params, spec)
	p := x.Planner.(*modelbased.Extended)
	for run := range n {
		rng := rand.New(rand.NewPCG(uint64(run), 7))
		x.Start(uint64(run))
		s := 0
		a := x.Begin(s)
		for seen := 0; x.Counts.Total() < 2000; {
			if x.Plans > seen {
				seen = x.Plans
				plans++
				if p.Gain < best.Gain[0]-1/math.Sqrt(x.Counts.Total()+1) {
					below++
				}
			}
			r := m.Reward(s, a)
			next, prob := m.Transition(s, a)
			k := 0
			for u := rng.Float64(); k < len(prob)-1 && u >= prob[k]; k++ {
				u -= prob[k]
			}
			s = int(next[k])
			a = x.Step(r, s)
		}
	}
	return below, plans
}

// The gain of every plan is at least the optimal one less 1/√t, in all of 20 runs. By the
// paper (Lemma 17, Theorem 7) a run fails with a probability of at most δ/15 Σ_t t⁻⁶ <
// 0.0035. So this test fails by chance with a probability below 0.07. Widths a hundredth
// of these fail often.
func TestOptimism(t *testing.T) {
	if below, plans := tooGloomy(t, "ucrl2", `{}`, 20); below != 0 || plans < 20*12 {
		t.Errorf("%d of %d plans are below the optimum", below, plans)
	}
	if below, plans := tooGloomy(t, "ucrl2", `{"scaling":0.01}`, 20); below == 0 {
		t.Errorf("none of %d plans with narrow confidence sets is below the optimum", plans)
	}
}

// A plan is kept until a pair is about to be visited more often than it had been
// when the plan was made.
func TestUCRL2PlansWhenVisitsDouble(t *testing.T) {
	x := newAgent(t, "ucrl2", `{}`, continuing())
	rng := rand.New(rand.NewPCG(1, 1))
	p := x.Planner.(*modelbased.Extended)
	counts, start := make([]float64, 6), make([]float64, 6)
	x.Begin(0)
	for range 5000 {
		counts[x.State*2+x.Action]++
		next, before := rng.IntN(3), x.Plans
		i := next*2 + p.Policy[next]
		want := counts[i]-start[i] >= max(1, start[i])
		x.Step(rng.Float64(), next)
		if got := x.Plans > before; got != want {
			t.Fatalf("visits %v, %v at the last plan: planned: %v", counts, start, got)
		}
		if want {
			copy(start, counts)
		}
	}
	if x.Plans < 10 || x.Plans > 6*14 {
		t.Errorf("%d plans in 5000 steps", x.Plans)
	}
	if before := x.Plans; x.Begin(x.State) < 0 || x.Plans > before+1 {
		t.Error("an episode is no reason to plan")
	}
}

// For reward per step an episode that terminates goes on where the next begins;
// with a horizon the state is worth nothing.
func TestUCRL2AtTheEnd(t *testing.T) {
	for _, tt := range []struct {
		params     string
		terminated bool
		want       int32
	}{
		{`{}`, true, 0}, {`{}`, false, 2}, {`{"horizon":3}`, true, 2}, {`{"horizon":3}`, false, 2},
	} {
		x := newAgent(t, "ucrl2", tt.params, agenttest.Finite)
		a := x.Begin(1)
		x.End(0.5, 2, tt.terminated)
		x.Begin(0)
		if got := x.Counts.Rewards(1, a).Mean; got != 0.5 {
			t.Errorf("%s, terminated %v: reward %v", tt.params, tt.terminated, got)
		}
		next, count := x.Counts.Row(1, a)
		if len(next) != 1 || next[0] != tt.want || count[0] != 1 || x.Counts.Total() != 1 {
			t.Errorf("%s, terminated %v: led to %v", tt.params, tt.terminated, next)
		}
		if got, want := x.Terminals.Is[2], tt.terminated && tt.params != `{}`; got != want {
			t.Errorf("%s, terminated %v: state 2 is terminal: %v", tt.params, tt.terminated, got)
		}
		x.End(1, 2, tt.terminated)
		x.Start(2)
		x.Begin(0)
		if x.Counts.Total() != 0 || x.Terminals.Len() != 0 {
			t.Errorf("%s, terminated %v: a run remembers the last", tt.params, tt.terminated)
		}
	}
}

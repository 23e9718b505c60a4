package mdp_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"
	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// The laws of docs/theory.md §2.1–2.3, on random models: d does not increase,
// tends to its limit, T is the first T with d < ε, and every bound bounds it.
func TestMixingLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := garnet(t)
		pi := policy(t, m)
		n := float64(m.NumStates())
		eta := rapid.SampledFrom([]float64{0.5, 0.25, 0.05, 0.001}).Draw(t, "eta")
		mix := must.Get(mdp.MixingTime(m, pi, mdp.MixingConfig{Eta: eta}))(t)
		c := induce(t, m, pi)
		sp := must.Get(c.Spectrum())(t)
		if (mix.Infinite > 0) != (mix.Why != nil) || (mix.Infinite > 0) != (mix.Max == mdp.Never) {
			t.Fatalf("%d infinite, reason %v, maximum %d", mix.Infinite, mix.Why, mix.Max)
		}
		for s := range m.NumStates() {
			for a := range m.NumActions() {
				const steps = 400
				d := must.Get(mdp.Forgetting(m, pi, s, a, steps))(t)
				T := mix.T[s][a]
				for k := range d {
					if k > 0 && d[k] > d[k-1]+1e-14 {
						t.Fatalf("d increases from %v to %v", d[k-1], d[k])
					}
					if d[k] < mix.Limit[s][a]-1e-12 {
						t.Fatalf("d_%d = %v is below its limit %v", k+1, d[k], mix.Limit[s][a])
					}
					if math.Abs(d[k]-mix.Epsilon) > 1e-12 && (d[k] < mix.Epsilon) != (k+1 >= T) {
						t.Fatalf("d_%d = %v, ε = %v, T = %d", k+1, d[k], mix.Epsilon, T)
					}
				}
				if s == 0 && a != pi[0] && T != mdp.Never {
					b := sp.Bounds(d[0]*n/2, eta)
					if T > b.Dobrushin || T > b.DobrushinPower || T > b.Spectral {
						t.Fatalf("T = %d exceeds a bound of %+v", T, b)
					}
				}
				if a == pi[s] && T != 1 {
					t.Fatalf("T = %d for the action of the policy", T)
				}
			}
		}
		if sp.Stationary != nil && sp.Lambda2 > sp.Sigma2+1e-9 {
			t.Fatalf("|λ₂| = %v exceeds σ₂ = %v", sp.Lambda2, sp.Sigma2)
		}
		if w, err := c.WorstMixing(0.25); err == nil && sp.Lambda2 > 0 {
			// d(t) ≥ ½|λ₂|^t: too few steps if that still exceeds 1/4.
			if 0.5*math.Pow(sp.Lambda2, float64(w)) > 0.25+1e-9 {
				t.Fatalf("t_mix = %d is below what λ₂ = %v allows", w, sp.Lambda2)
			}
		}
	})
}

// A deviation's effect on reward that a window of T steps does not show is at
// most η·span(h) (docs/theory.md §2.2).
func TestMixingBoundsTheAdvantage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := garnet(t)
		pi := policy(t, m)
		c := induce(t, m, pi)
		if !c.Structure().Unichain() {
			t.Skip("several gains")
		}
		gain, h := must.Get2(c.EvaluateAverage())(t)
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, x := range h {
			lo, hi = min(lo, x), max(hi, x)
		}
		const eta = 0.1
		mix := must.Get(mdp.MixingTime(m, pi, mdp.MixingConfig{Eta: eta}))(t)
		for a := range m.NumActions() {
			T := mix.T[0][a]
			if T > 10_000 {
				continue
			}
			// E of T rewards after the deviation, less T rewards under π.
			next, prob := m.Transition(0, a)
			v := c.EvaluateFinite(T - 1)
			window, limit := m.Reward(0, a)-c.EvaluateFinite(T)[0], m.Reward(0, a)-gain[0]-h[0]
			for k, s := range next {
				window += prob[k] * v[s]
				limit += prob[k] * h[s]
			}
			if d := math.Abs(limit - window); d > eta*(hi-lo)+1e-9*(1+hi-lo)*float64(T) {
				t.Fatalf("a window of %d misses %v of the advantage, bound %v", T, d, eta*(hi-lo))
			}
		}
	})
}

// The components are those of gonum's TarjanSCC.
func TestComponentsAgainstGonum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := garnet(t)
		c := induce(t, m, policy(t, m))
		g := simple.NewDirectedGraph()
		for s := range c.NumStates() {
			g.AddNode(simple.Node(s))
		}
		for s := range c.NumStates() {
			next, _ := c.Row(s)
			for _, u := range next {
				if int(u) != s {
					g.SetEdge(simple.Edge{F: simple.Node(s), T: simple.Node(u)})
				}
			}
		}
		want := topo.TarjanSCC(g)
		st := c.Structure()
		if len(want) != len(st.Classes) {
			t.Fatalf("%d classes, gonum finds %d", len(st.Classes), len(want))
		}
		for _, class := range want {
			for _, s := range class {
				if st.ClassOf[s.ID()] != st.ClassOf[class[0].ID()] {
					t.Fatalf("states %v and %v are in one class for gonum", s, class[0])
				}
			}
		}
	})
}

// What is never forgotten explains itself, with the states.
func TestReasons(t *testing.T) {
	model := func(actions int, rows ...[]int) *mdp.Tabular { // rows[s][a] is the successor
		return must.Get(mdp.Generate(mdp.Definition{States: len(rows), Actions: actions}, func(s, a int, row *mdp.Row) { row.Add(rows[s][a], 1) }))(t)
	}
	for name, c := range map[string]struct {
		m    *mdp.Tabular
		need string
		says []string
	}{
		"flip":            {model(2, []int{1, 0}, []int{0, 1}), "aperiodic", []string{"action 1 in state 0", "{0, 1} of period 2"}},
		"split":           {model(2, []int{1, 2}, []int{1, 1}, []int{2, 2}), "unichain", []string{"action 1 in state 0", "{1}", "{2}"}},
		"transient phase": {model(2, []int{1, 2}, []int{3, 3}, []int{1, 1}, []int{1, 1}), "aperiodic", []string{"action 1 in state 0", "{1, 3} of period 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			mix := must.Get(mdp.MixingTime(c.m, mdp.Constant(c.m.NumStates(), 0), mdp.MixingConfig{}))(t)
			var missing *mdp.MissingError
			if !errors.As(mix.Why, &missing) || missing.Need != c.need {
				t.Fatalf("reason %v", mix.Why)
			}
			for _, says := range c.says {
				if !strings.Contains(mix.Why.Error(), says) {
					t.Errorf("%q does not say %q", mix.Why, says)
				}
			}
		})
	}
}

// On continuing DeepSea the chain is periodic, so no distribution converges, yet
// a deviation is forgotten when its episode ends (docs/theory.md §2.1).
func TestDeepSeaForgetsAtTheEndOfTheEpisode(t *testing.T) {
	const n = 8
	task := must.Get(catalog.DeepSea(catalog.Sea{Size: n, Continuing: true}))(t)
	pi := mdp.Constant(task.Model.NumStates(), 1) // right: the diagonal
	mix := must.Get(mdp.MixingTime(task.Model, pi, mdp.MixingConfig{}))(t)
	for row := range n - 1 {
		diagonal := row*(row+1)/2 + row
		if T := mix.T[diagonal][0]; T != n-row {
			t.Errorf("row %d: T = %d, want the %d steps left", row, T, n-row)
		}
	}
	c := must.Get(mdp.Induce(task.Model, pi))(t)
	if _, err := c.WorstMixing(0.25); err == nil || !strings.Contains(err.Error(), "period 8") {
		t.Errorf("worst-case mixing: %v", err)
	}
}

// Two states in closed form: d_T = |p'−p|·|1−p−q|^(T−1), for chains whose times
// reach 1e10 and beyond.
func TestTwoStatesInClosedForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := math.Pow(10, rapid.Float64Range(-10, -0.001).Draw(t, "log p"))
		q := math.Pow(10, rapid.Float64Range(-10, -0.001).Draw(t, "log q"))
		dev := rapid.Float64Range(0, 1).Draw(t, "p'")
		eta := math.Pow(10, rapid.Float64Range(-4, -0.1).Draw(t, "log η"))
		m := must.Get(mdp.Generate(mdp.Definition{States: 2, Actions: 2}, func(s, a int, row *mdp.Row) {
			x := [2][2]float64{{p, dev}, {q, q}}[s][a]
			row.Add(1-s, x)
			row.Add(s, 1-x)
		}))(t)
		mix := must.Get(mdp.MixingTime(m, mdp.Constant(2, 0), mdp.MixingConfig{Eta: eta}))(t)
		first := math.Abs(dev - p)
		if first < eta*(1-1e-9) {
			if mix.T[0][1] != 1 {
				t.Fatalf("T = %d although d_1 = %v < %v", mix.T[0][1], first, eta)
			}
			return
		}
		// log|λ| of 1−p−q, without cancelling when both are small.
		rate := -math.Log1p(-(p + q))
		if p+q > 1 {
			rate = -math.Log(p + q - 1)
		}
		want := math.Log(first/eta)/rate + 1 // d_T = η here
		// P in doubles knows p and q to 1e-16 of 1 only.
		slack := 1 + 1e-15/(p+q)*want + 1e-9*want
		if got := float64(mix.T[0][1]); got < want-slack || got > want+1+slack {
			t.Fatalf("T = %v, want %v ± %v", got, want, slack)
		}
	})
}

package catalog_test

import (
	"cmp"
	"math"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// from returns the mean of v over the model's initial distribution.
func from(m *mdp.Tabular, v []float64) float64 {
	states, prob := m.Initial()
	if states == nil {
		return v[0]
	}
	sum := 0.0
	for i, s := range states {
		sum += prob[i] * v[s]
	}
	return sum
}

func TestKnown(t *testing.T) {
	for _, c := range []struct {
		known Known
		got   float64
		ok    bool
	}{{"0.25", 0.259, true}, {"0.25", 0.261, false}, {"", 7, true}, {"101", 101.5, true}, {"101", 103, false}, {"1.25e3", 1259, true}, {"1.25e3", 1261, false}, {"1.0", math.NaN(), false}} {
		if err := c.known.Check(c.got); (err == nil) != c.ok {
			t.Errorf("%q against %v: %v", c.known, c.got, err)
		}
	}
}

// Every solver of every criterion gives the known answer of every problem.
func TestProblems(t *testing.T) {
	for _, p := range Problems() {
		t.Run(p.Name, func(t *testing.T) {
			for _, k := range p.Discounted {
				for _, method := range []mdp.Method{mdp.ValueIteration, mdp.ModifiedPolicyIteration, mdp.PolicyIteration} {
					sol, err := mdp.SolveDiscounted(p.Model, k.Gamma, mdp.SolverConfig{Method: method, Tolerance: 1e-9})
					if err != nil {
						t.Fatalf("method %d: %v", method, err)
					}
					if err := k.Value.Check(from(p.Model, sol.Value)); err != nil {
						t.Errorf("discounted %v by method %d: %v", k.Gamma, method, err)
					}
				}
			}
			for _, k := range p.Finite {
				v, _ := must.Get2(mdp.SolveHorizon(p.Model, k.Horizon))(t)
				if err := cmp.Or(k.Value.Check(from(p.Model, v)), k.Value.Check(p.Model.TruncatedAfter(k.Horizon).OptimalReturn())); err != nil {
					t.Errorf("horizon %d: %v", k.Horizon, err)
				}
			}
			if p.Total != "" {
				if err := p.Total.Check(p.Model.OptimalReturn()); err != nil {
					t.Errorf("total: %v", err)
				}
			}
			if p.Gain != "" {
				for _, method := range []mdp.Method{mdp.PolicyIteration, mdp.ValueIteration} {
					sol, err := mdp.SolveAverage(p.Model, mdp.SolverConfig{Method: method, Tolerance: 1e-11})
					if err != nil {
						t.Fatalf("method %d: %v", method, err)
					}
					if err := p.Gain.Check(from(p.Model, sol.Gain)); err != nil {
						t.Errorf("gain by method %d: %v", method, err)
					}
					if method == mdp.PolicyIteration {
						lo, hi := math.Inf(1), math.Inf(-1)
						for _, h := range sol.Bias {
							lo, hi = min(lo, h), max(hi, h)
						}
						if err := p.BiasSpan.Check(hi - lo); err != nil {
							t.Errorf("bias span: %v", err)
						}
						checkMixing(t, "optimal", p.Model, sol.Policy, p.MixOptimal)
					}
				}
			}
			if p.UniformGain != "" {
				c := must.Get(mdp.Induce(p.Model, mdp.Uniform{}))(t)
				gain, _ := must.Get2(c.EvaluateAverage())(t)
				if err := p.UniformGain.Check(gain[0]); err != nil {
					t.Errorf("uniform gain: %v", err)
				}
				checkMixing(t, "uniform", p.Model, mdp.Uniform{}, p.MixUniform)
			}
			if p.Diameter != "" {
				d, _, _, err := mdp.Diameter(p.Model)
				if err != nil {
					t.Fatal(err)
				}
				if err := p.Diameter.Check(d); err != nil {
					t.Errorf("diameter: %v", err)
				}
			}
		})
	}
}

func checkMixing(t *testing.T, name string, m *mdp.Tabular, pi mdp.Policy, want int) {
	t.Helper()
	if want == 0 {
		return
	}
	c := must.Get(mdp.Induce(m, pi))(t)
	got := must.Get(c.WorstMixing(0.25))(t)
	if got != want {
		t.Errorf("tmix of the %s policy is %d, want %d", name, got, want)
	}
}

package mdp

import (
	"bytes"
	"math"
	"testing"

	"github.com/rlrun/rlrun/internal/vectors"
)

// TestReference reproduces the reference vectors at their tolerances.
func TestReference(t *testing.T) {
	f, err := vectors.Read()
	if err != nil {
		t.Fatal(err)
	}
	models := map[string]*Tabular{}
	for name, raw := range f.MDPs {
		if models[name], err = ParseModel(bytes.NewReader(raw)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	vectors.Run(t, f, "mdp_values", func(t *testing.T, in struct{ MDP string }, want wantValues) {
		checkValues(t, models[in.MDP], want)
	})
}

type wantValues struct {
	OptimalGain       float64  `json:"optimal_gain"`
	GainOptimalPolicy []int    `json:"gain_optimal_policy"`
	PolicyUnique      bool     `json:"policy_unique"`
	SpanBias          *float64 `json:"span_bias"`
	Discounted        []struct {
		Gamma float64
		V     []float64
	}
	FiniteHorizon []struct {
		H int
		V []float64
	} `json:"finite_horizon"`
	UniformPolicyGain *float64 `json:"uniform_policy_gain"`
}

func checkValues(t *testing.T, m *Tabular, want wantValues) {
	const rel, abs = 1e-8, 1e-15
	sol, err := SolveAverage(m, Options{Method: PolicyIteration})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range sol.Gain {
		vectors.Close(t, "gain", g, want.OptimalGain, rel, abs)
	}
	if d := math.Abs(sol.Gain[0] - want.OptimalGain); d > sol.Bound+1e-15 {
		t.Errorf("gain is off by %g, bound %g", d, sol.Bound)
	}
	if want.PolicyUnique {
		for s, a := range want.GainOptimalPolicy {
			if sol.Policy[s] != a {
				t.Errorf("policy in state %d is %d, want %d", s, sol.Policy[s], a)
			}
		}
	}
	if want.SpanBias != nil {
		vectors.Close(t, "span of the bias", span(sol.Bias), *want.SpanBias, rel, abs)
	}
	if want.UniformPolicyGain != nil {
		c, err := Induce(m, Uniform{})
		if err != nil {
			t.Fatal(err)
		}
		gain, _, err := c.EvaluateAverage()
		if err != nil {
			t.Fatal(err)
		}
		vectors.Close(t, "gain of the uniform policy", gain[0], *want.UniformPolicyGain, rel, abs)
	}
	for _, w := range want.Discounted {
		for _, method := range []Method{PolicyIteration, ValueIteration, ModifiedPolicyIteration, PrioritisedSweeping} {
			sol, err := SolveDiscounted(m, w.Gamma, Options{Method: method, Tolerance: 1e-11})
			if err != nil {
				t.Fatalf("method %d: %v", method, err)
			}
			for s, v := range w.V {
				vectors.Close(t, "discounted value", sol.Value[s], v, rel, 1e-10)
				if d := math.Abs(sol.Value[s] - v); d > sol.Bound+1e-13 {
					t.Errorf("method %d: value is off by %g, bound %g", method, d, sol.Bound)
				}
			}
		}
	}
	for _, w := range want.FiniteHorizon {
		sol, err := SolveFinite(m, w.H)
		if err != nil {
			t.Fatal(err)
		}
		for s, v := range w.V {
			vectors.Close(t, "finite-horizon value", sol.Value[w.H][s], v, rel, abs)
		}
	}
}

func span(v []float64) float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, x := range v {
		lo, hi = min(lo, x), max(hi, x)
	}
	return hi - lo
}

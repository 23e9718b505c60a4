package mdp

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
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
	vectors.Run(t, f, "mixing", func(t *testing.T, in struct {
		MDP    string
		Policy json.RawMessage
	}, want wantMixing) {
		var pi Policy = Uniform{}
		var actions Deterministic
		if json.Unmarshal(in.Policy, &actions) == nil {
			pi = actions
		} else if string(in.Policy) != `"uniform"` {
			t.Fatalf("policy %s", in.Policy)
		}
		checkMixing(t, models[in.MDP], pi, want)
	})
	vectors.Run(t, f, "two_state_mixing", checkTwoStates)
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
	sol := must.Get(SolveAverage(m, SolverConfig{Method: PolicyIteration}))(t)
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
		c := must.Get(Induce(m, Uniform{}))(t)
		gain, _ := must.Get2(c.EvaluateAverage())(t)
		vectors.Close(t, "gain of the uniform policy", gain[0], *want.UniformPolicyGain, rel, abs)
	}
	for _, w := range want.Discounted {
		for _, method := range []Method{PolicyIteration, ValueIteration, ModifiedPolicyIteration} {
			sol, err := SolveDiscounted(m, w.Gamma, SolverConfig{Method: method, Tolerance: 1e-11})
			if err != nil {
				t.Fatalf("method %d: %v", method, err)
			}
			for s, v := range w.V {
				vectors.Close(t, "discounted value", sol.Value[s], v, rel, 1e-10)
				read := 0x1p-52 * math.Abs(v) / (1 - w.Gamma) // the vectors' γ is decimal, ours the double next to it
				if d := math.Abs(sol.Value[s] - v); d > sol.Bound+1e-13+read {
					t.Errorf("method %d: value is off by %g, bound %g", method, d, sol.Bound)
				}
			}
		}
	}
	for _, w := range want.FiniteHorizon {
		sol := must.Get(SolveFinite(m, w.H))(t)
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

type wantMixing struct {
	Irreducible       bool
	NClosedClasses    int `json:"n_closed_classes"`
	Periods           []int
	AperiodicUnichain bool `json:"aperiodic_unichain"`
	Stationary        []float64
	Spectral          struct {
		Lambda2    *float64 `json:"lambda2_modulus"`
		Dobrushin  *float64 `json:"dobrushin"`
		Doeblin    *float64 `json:"doeblin_alpha"`
		Reversible *bool    `json:"reversible"`
		Sigma2     *float64 `json:"sigma2"`
		PseudoGap  *float64 `json:"pseudo_spectral_gap"`
	}
	TmixQuarter json.RawMessage `json:"tmix_quarter"`
	DSequences  []struct {
		S, A int
		D    []float64
		DInf *float64 `json:"d_inf"`
	} `json:"d_sequences"`
	DInfMax float64 `json:"d_inf_max"`
	TEps    []struct {
		Eps            float64
		T              [][]*int
		TMax           *int `json:"T_max"`
		Infinite       bool
		NInfinite      int             `json:"n_infinite"`
		TMeanNonGreedy *float64        `json:"T_mean_nongreedy"`
		DobrushinBound json.RawMessage `json:"dobrushin_bound"`
	} `json:"T_eps"`
	TTV []struct {
		Eta      float64
		TMax     *int `json:"T_max"`
		Infinite bool
	} `json:"T_tv"`
	ErrorExpected *string `json:"error_expected"`
}

func checkMixing(t *testing.T, m *Tabular, pi Policy, want wantMixing) {
	c := must.Get(Induce(m, pi))(t)
	st := c.Structure()
	var periods []int
	for _, i := range st.Closed {
		periods = append(periods, st.Period[i])
	}
	slices.Sort(periods)
	slices.Sort(want.Periods)
	if st.Irreducible() != want.Irreducible || len(st.Closed) != want.NClosedClasses || !slices.Equal(periods, want.Periods) ||
		(st.Unichain() && st.Aperiodic()) != want.AperiodicUnichain {
		t.Errorf("irreducible %v, %d closed classes, periods %v", st.Irreducible(), len(st.Closed), periods)
	}
	mu, residual, err := c.Stationary()
	if (err == nil) != (want.Stationary != nil) {
		t.Errorf("stationary distribution: %v", err)
	}
	for s, x := range want.Stationary {
		vectors.Close(t, "stationary probability", mu[s], x, 1e-10, 1e-15)
	}
	if residual > 1e-13 {
		t.Errorf("residual %g", residual)
	}
	sp := must.Get(c.Spectrum())(t)
	const abs = 1e-8
	for _, x := range []struct { // a large chain's may be absent
		what string
		got  float64
		want *float64
	}{{"lambda2", sp.Lambda2, want.Spectral.Lambda2}, {"Dobrushin coefficient", sp.Dobrushin, want.Spectral.Dobrushin}, {"Doeblin coefficient", sp.Doeblin, want.Spectral.Doeblin}} {
		if x.want != nil {
			vectors.Close(t, x.what, x.got, *x.want, 0, abs)
		}
	}
	if w := want.Spectral; w.Sigma2 != nil {
		vectors.Close(t, "sigma2", sp.Sigma2, *w.Sigma2, 0, abs)
		vectors.Close(t, "pseudo-spectral gap", sp.PseudoGap, *w.PseudoGap, 0, abs)
		if sp.Reversible != *w.Reversible {
			t.Errorf("reversible %v, want %v", sp.Reversible, *w.Reversible)
		}
	} else if !want.Irreducible && !math.IsNaN(sp.Sigma2) {
		t.Errorf("sigma2 of a chain that is not irreducible is %v", sp.Sigma2)
	}
	if len(want.TmixQuarter) > 0 {
		wantTime := orNever(t, want.TmixQuarter)
		if got, _ := c.WorstMixing(0.25); got != wantTime {
			t.Errorf("tmix(1/4) = %d, want %d", got, wantTime)
		}
	}
	for _, w := range want.DSequences {
		d := must.Get(Forgetting(m, pi, w.S, w.A, len(w.D)))(t)
		for k := range d {
			vectors.Close(t, "d", d[k], w.D[k], 0, 1e-13)
		}
	}
	for _, w := range want.TEps {
		got := must.Get(MixingTime(m, pi, MixingConfig{Epsilon: w.Eps}))(t)
		for s, row := range w.T {
			for a, x := range row {
				if wantTime := orNeverInt(x); got.T[s][a] != wantTime {
					t.Errorf("T_%g(%d,%d) = %d, want %d", w.Eps, s, a, got.T[s][a], wantTime)
				}
			}
		}
		if got.Max != orNeverInt(w.TMax) || got.Infinite != w.NInfinite || (got.Why != nil) != w.Infinite {
			t.Errorf("T_%g: maximum %d, %d infinite, reason %v", w.Eps, got.Max, got.Infinite, got.Why)
		}
		if w.TMeanNonGreedy != nil {
			vectors.Close(t, "mean over non-greedy actions", got.MeanNonGreedy, *w.TMeanNonGreedy, 1e-10, 0)
		}
		largest := 0.0
		for _, row := range got.Limit {
			largest = max(largest, slices.Max(row))
		}
		vectors.Close(t, "largest limit", largest, want.DInfMax, 0, 1e-13)
		for _, d := range want.DSequences {
			if d.DInf != nil {
				vectors.Close(t, "limit", got.Limit[d.S][d.A], *d.DInf, 0, 1e-13)
			}
		}
		if want.ErrorExpected != nil && w.Infinite {
			var missing *MissingError
			need := map[string]string{"periodic": "aperiodic", "reducible": "unichain"}[*want.ErrorExpected]
			mixed := len(st.Closed) > 1 && slices.Max(periods) > 1 // both are true
			if !errors.As(got.Why, &missing) || missing.Need != need && !(mixed && (missing.Need == "aperiodic" || missing.Need == "unichain")) {
				t.Errorf("reason %v, want %s", got.Why, *want.ErrorExpected)
			}
		}
		// The bound is of the largest first distance.
		first := 0.0
		for s := range m.NumStates() {
			for a := range m.NumActions() {
				d := must.Get(Forgetting(m, pi, s, a, 1))(t)
				first = max(first, d[0]*float64(m.NumStates())/2)
			}
		}
		bounds := sp.Bounds(first, got.Eta)
		if len(w.DobrushinBound) > 0 {
			if wantTime := orNever(t, w.DobrushinBound); bounds.Dobrushin != wantTime {
				t.Errorf("Dobrushin bound %d, want %d", bounds.Dobrushin, wantTime)
			}
		}
		if got.Infinite == 0 && (got.Max > bounds.Dobrushin || got.Max > bounds.DobrushinPower || got.Max > bounds.Spectral) {
			t.Errorf("T = %d exceeds a bound: %+v", got.Max, bounds)
		}
	}
	for _, w := range want.TTV {
		got := must.Get(MixingTime(m, pi, MixingConfig{Eta: w.Eta}))(t)
		if got.Max != orNeverInt(w.TMax) || (got.Infinite > 0) != w.Infinite {
			t.Errorf("T at η = %g is %d, want %d", w.Eta, got.Max, orNeverInt(w.TMax))
		}
	}
}

func orNeverInt(x *int) int {
	if x == nil {
		return Never
	}
	return *x
}

func orNever(t *testing.T, raw json.RawMessage) int {
	t.Helper()
	var x *int
	must.Do(t, json.Unmarshal(raw, &x))
	return orNeverInt(x)
}

type twoStateCase struct {
	P, Q, Eps float64
	PDev      float64 `json:"p_dev"`
	QDev      float64 `json:"q_dev"`
	S         int
}

type wantTwoStates struct {
	Lambda2   float64
	D1        float64
	T         *int     `json:"T_eps"`
	DAtT      *float64 `json:"d_at_T"`
	Tolerance float64  `json:"T_rel_tol_from_matrix"`
}

func checkTwoStates(t *testing.T, in twoStateCase, want wantTwoStates) {
	m := must.Get(Generate(Definition{States: 2, Actions: 2}, func(s, a int, row *Row) {
		move := [2][2]float64{{in.P, in.PDev}, {in.Q, in.QDev}}[s][a]
		row.Add(1-s, move)
		row.Add(s, 1-move)
	}))(t)
	pi := Constant(2, 0)
	got := must.Get(MixingTime(m, pi, MixingConfig{Epsilon: in.Eps}))(t)
	wantTime := orNeverInt(want.T)
	slack := int(want.Tolerance * float64(wantTime))
	if d := got.T[in.S][1] - wantTime; wantTime != Never && (d > slack || -d > slack) || wantTime == Never && got.T[in.S][1] != Never {
		t.Errorf("T = %d, want %d ± %d", got.T[in.S][1], wantTime, slack)
	}
	d := must.Get(Forgetting(m, pi, in.S, 1, 1))(t)
	vectors.Close(t, "d_1", d[0], want.D1, 0, 1e-13)
	c := must.Get(Induce(m, pi))(t)
	sp := must.Get(c.Spectrum())(t)
	vectors.Close(t, "lambda2", sp.Lambda2, math.Abs(want.Lambda2), 0, 1e-8)
}

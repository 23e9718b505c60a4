package bandit

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/internal/vectors"
)

// near is close for numbers that may be null or absent in the file.
func near(t *testing.T, what string, got float64, want *float64, rel, abs float64) {
	t.Helper()
	if want != nil {
		vectors.Close(t, what, got, *want, rel, abs)
	}
}

func same[T comparable](t *testing.T, what string, got T, want *T) {
	t.Helper()
	if want != nil && got != *want {
		t.Errorf("%s = %v, want %v", what, got, *want)
	}
}

// anyBelief reads a belief of any kind.
type anyBelief struct{ Belief }

func (d *anyBelief) UnmarshalJSON(raw []byte) error {
	var v struct {
		Kind                                string
		Mu, Beta, Mean, SD, A, B, Lo, Hi, W float64
		Samples                             []float64
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	var err error
	switch v.Kind {
	case "shifted_exponential":
		d.Belief, err = NewShiftedExponential(v.Mu, v.Beta)
	case "gaussian":
		d.Belief, err = NewGaussian(v.Mean, v.SD, 1)
	case "beta":
		d.Belief, err = NewBeta(v.A, v.B)
	case "uniform":
		d.Belief, err = NewUniform(v.Lo, v.Hi)
	case "two_point":
		d.Belief, err = NewTwoPoint(v.Lo, v.Hi, v.W)
	case "population":
		d.Belief, err = NewPopulation(v.Samples, PopulationConfig{})
	default:
		err = fmt.Errorf("unknown belief %q", v.Kind)
	}
	return err
}

func TestReference(t *testing.T) {
	f := must.Get(vectors.Read())(t)
	vectors.Run(t, f, "U", checkU)
	vectors.Run(t, f, "threshold", checkThreshold(1e-9, 1e-7))
	vectors.Run(t, f, "population", checkThreshold(1e-12, 1e-12))
	vectors.Run(t, f, "finite_horizon", checkFiniteHorizon)
	vectors.Run(t, f, "exponential", checkExponential)
	vectors.Run(t, f, "exponential_pair", checkExponentialPair)
	vectors.Run(t, f, "alg2", checkAlg2)
	vectors.Run(t, f, "beta_pair", checkBetaPair)
	vectors.Run(t, f, "belief_index", checkBeliefIndex)
	vectors.Run(t, f, "gittins", checkGittins)
	vectors.Run(t, f, "bayes_two_armed", checkBayesTwoArmed)
}

// TestExtreme does the same with cases far from the ordinary; testdata/extreme.py
// says how they were made.
func TestExtreme(t *testing.T) {
	f := must.Get(vectors.ReadFile("testdata/extreme.json"))(t)
	vectors.Run(t, f, "threshold", checkThreshold(1e-9, 1e-7))
	vectors.Run(t, f, "population", checkThreshold(1e-12, 1e-12))
	vectors.Run(t, f, "exponential", checkExponential)
	vectors.Run(t, f, "exponential_pair", checkExponentialPair)
	vectors.Run(t, f, "beta_pair", checkBetaPair)
	vectors.Run(t, f, "belief_index", checkBeliefIndex)
}

type inputU struct {
	Qj, Delta, P, B float64
	T               int
	G               struct {
		Kind  string
		Gamma float64
		N     *int
		W     []float64
	}
}

type expectU struct {
	G         *float64
	GT        *float64 `json:"G_T"`
	HT        *float64 `json:"H_T"`
	Rho       *float64
	U         *float64
	Greedy    *float64
	Advantage *float64
	Explore   *bool
	Needed    *float64 `json:"gamma_needed_fixed_delta"`
}

func checkU(t *testing.T, in inputU, want expectU) {
	var h Horizon
	switch {
	case in.G.Kind == "list":
		h = Weights(in.G.W)
	case in.G.Kind != "geometric":
		t.Fatalf("unknown weights %q", in.G.Kind)
	case in.G.N == nil:
		h = Discounted(in.G.Gamma)
	default:
		h = DiscountedFinite(in.G.Gamma, *in.G.N)
	}
	const rel = 1e-12
	c := Comparison{Known: in.Qj, LowerBound: in.B, Hold: in.T}
	near(t, "G", h.Total(), want.G, rel, 0)
	near(t, "G_T", h.Head(in.T), want.GT, rel, 0)
	near(t, "H_T", h.Tail(in.T), want.HT, rel, 0)
	near(t, "rho", h.Share(in.T), want.Rho, rel, 0)
	near(t, "U", ExplorationBound(h, c, in.Delta, in.P), want.U, rel, 0)
	near(t, "greedy", h.Total()*in.Qj, want.Greedy, rel, 0)
	advantage := Advantage(h, c, in.Delta, in.P)
	near(t, "advantage", advantage, want.Advantage, rel, 0)
	same(t, "explore", advantage > 0, want.Explore)
	near(t, "gamma needed", thresholdAt(c, in.Delta, in.P).GammaStar, want.Needed, rel, 0)
}

type inputThreshold struct {
	Belief anyBelief
	Qj, B  float64
	T      int
}

type expectThreshold struct {
	DeltaStar      *float64 `json:"delta_star"`
	PStar          *float64 `json:"p_star"`
	PhiStar        *float64 `json:"phi_star"`
	PhiInfinite    *bool    `json:"phi_infinite"`
	Attained       *bool
	GammaStar      *float64 `json:"gamma_star"`
	NStar          *float64 `json:"N_star"`
	NStarOverflow  *bool    `json:"N_star_overflow"`
	MeanI          *float64 `json:"mean_i"`
	LowerValued    *bool    `json:"lower_valued"`
	VPI            *float64
	DecisionsGamma []struct {
		Gamma   float64
		Explore bool
	} `json:"decisions_gamma"`
	DecisionsN []struct {
		N       int
		Explore bool
	} `json:"decisions_N"`
	SupAdv *struct{ Rho, Value, Delta float64 } `json:"sup_adv"`
	Index  []struct {
		Rho           float64
		U, Uplus, VPI *float64
	}
}

func checkThreshold(rel, relDelta float64) func(*testing.T, inputThreshold, expectThreshold) {
	return func(t *testing.T, in inputThreshold, want expectThreshold) {
		c := Comparison{Known: in.Qj, LowerBound: in.B, Hold: in.T}
		got := Threshold(in.Belief.Belief, c)
		near(t, "delta*", got.DeltaStar, want.DeltaStar, relDelta, 0)
		near(t, "p*", got.PStar, want.PStar, rel, 0)
		near(t, "phi*", got.PhiStar, want.PhiStar, rel, 0)
		same(t, "phi* infinite", math.IsInf(got.PhiStar, 1), want.PhiInfinite)
		same(t, "attained", got.Attained, want.Attained)
		near(t, "gamma*", got.GammaStar, want.GammaStar, rel, 0)
		switch overflow := want.NStarOverflow != nil && *want.NStarOverflow; {
		case want.NStar != nil && *want.NStar < 1e9:
			if got.Never || got.NStarOverflow || float64(got.NStar) != *want.NStar {
				t.Errorf("N* = %d, want %v", got.NStar, *want.NStar)
			}
		case want.NStar != nil:
			near(t, "N*", float64(got.NStar), want.NStar, rel, 0)
		case overflow && (got.Never || float64(got.NStar) < 1e15):
			t.Errorf("N* = %d, want an overflow", got.NStar)
		case !overflow && !got.Never:
			t.Errorf("N* = %d, want never", got.NStar)
		}
		mean := in.Belief.Mean()
		near(t, "mean", mean, want.MeanI, rel, 0)
		same(t, "lower valued", mean <= in.Qj, want.LowerValued)
		near(t, "VPI", in.Belief.Gain(in.Qj), want.VPI, rel, 0)
		for _, d := range want.DecisionsGamma {
			if got := Explore(Discounted(d.Gamma), in.Belief.Belief, c); got != d.Explore {
				t.Errorf("explore at gamma %v: %v, want %v", d.Gamma, got, d.Explore)
			}
		}
		for _, d := range want.DecisionsN {
			if got := Explore(Finite(d.N), in.Belief.Belief, c); got != d.Explore {
				t.Errorf("explore at N %d: %v, want %v", d.N, got, d.Explore)
			}
		}
		if s := want.SupAdv; s != nil {
			delta, value := BestDelta(in.Belief.Belief, c, s.Rho)
			near(t, "sup advantage", value, &s.Value, rel, 0)
			near(t, "its delta", delta, &s.Delta, relDelta, 1e-15)
		}
		for _, x := range want.Index {
			checkIndices(t, in.Belief.Belief, x.Rho, in.B, x.U, x.Uplus, x.VPI, rel)
		}
	}
}

func checkIndices(t *testing.T, b Belief, rho, lowerBound float64, u, uplus, vpi *float64, rel float64) {
	t.Helper()
	abs := 1e-15 * (math.Abs(lowerBound) + math.Abs(b.Mean())) // an index may be zero
	near(t, fmt.Sprintf("index U at rho %v", rho), Index(U, b, rho, lowerBound), u, rel, abs)
	near(t, fmt.Sprintf("index U+ at rho %v", rho), Index(UPlus, b, rho, lowerBound), uplus, rel, abs)
	near(t, fmt.Sprintf("index V at rho %v", rho), Index(V, b, rho, lowerBound), vpi, rel, abs)
	if p, ok := b.(*Population); ok {
		for kind, want := range map[IndexKind]*float64{U: u, UPlus: uplus, V: vpi} {
			near(t, fmt.Sprintf("tabulated %v at rho %v", kind, rho),
				NewIndexTable(kind, rho, p.Len()).Index(p, lowerBound), want, rel, abs)
		}
	}
}

type inputFinite struct {
	Qj, B, Delta, P float64
	T, N            int
}

func checkFiniteHorizon(t *testing.T, in inputFinite, want struct {
	Lhs, Rhs *float64
	Explore  *bool
	NStar    *int `json:"N_star"`
}) {
	c := Comparison{Known: in.Qj, LowerBound: in.B, Hold: in.T}
	h := Finite(in.N)
	// The two sides of the paper's condition, corrected (docs/theory.md,
	// erratum 9): their difference is the advantage.
	lhs := h.Tail(in.T) * in.Delta * in.P
	rhs := h.Head(in.T) * ((in.Qj - in.B) - (in.Qj-in.B+in.Delta)*in.P)
	near(t, "lhs", lhs, want.Lhs, 1e-12, 0)
	near(t, "rhs", rhs, want.Rhs, 1e-12, 1e-15)
	advantage := Advantage(h, c, in.Delta, in.P)
	if want.Lhs != nil && want.Rhs != nil {
		vectors.Close(t, "advantage", advantage, *want.Lhs-*want.Rhs, 1e-12, 1e-13)
	}
	same(t, "explore", advantage > 0, want.Explore)
	same(t, "N*", thresholdAt(c, in.Delta, in.P).NStar, want.NStar)
}

func checkExponential(t *testing.T, in struct{ Mu, Beta, Qj float64 }, want struct {
	M, X, Arg, W0, Wm1, P *float64
	DeltaStar             *float64 `json:"delta_star"`
	Other                 *float64 `json:"delta_other_branch"`
	PhiStar               *float64 `json:"phi_star"`
	LogPhiStar            *float64 `json:"log_phi_star"`
	PStar                 *float64 `json:"p_star"`
	GammaStar             *float64 `json:"gamma_star_b0"`
	PhiInfinite           bool     `json:"phi_infinite"`
	Status                string
}) {
	const rel = 1e-10
	d := ShiftedExponential{in.Mu, in.Beta}
	got := Threshold(d, Comparison{Known: in.Qj})
	m := in.Qj - in.Mu
	x := in.Beta * m
	near(t, "m", m, want.M, rel, 0)
	near(t, "x", x, want.X, rel, 0)
	status := "interior"
	switch {
	case math.IsInf(got.PhiStar, 1):
		status = "always"
	case !got.Attained:
		status = "boundary"
	}
	if status != want.Status {
		t.Errorf("status %q, want %q", status, want.Status)
	}
	if infinite := math.IsInf(got.PhiStar, 1); infinite != want.PhiInfinite {
		t.Errorf("phi* infinite: %v, want %v", infinite, want.PhiInfinite)
	}
	near(t, "delta*", got.DeltaStar, want.DeltaStar, rel, 0)
	near(t, "phi*", got.PhiStar, want.PhiStar, rel, 0)
	near(t, "log phi*", got.LogPhiStar, want.LogPhiStar, rel, 0)
	near(t, "p*", got.PStar, want.PStar, rel, 0)
	near(t, "gamma*", got.GammaStar, want.GammaStar, rel, 0)
	if want.W0 == nil {
		return
	}
	near(t, "arg", -math.Exp(-1-x), want.Arg, rel, 0)
	u, _ := lambertW0NegExp(x)
	near(t, "W0", -u, want.W0, rel, 0)
}

func checkExponentialPair(t *testing.T, in struct {
	MuI   float64 `json:"mu_i"`
	BetaI float64 `json:"beta_i"`
	MuJ   float64 `json:"mu_j"`
	BetaJ float64 `json:"beta_j"`
}, want struct {
	Kappa     *float64
	DeltaStar *float64 `json:"delta_star"`
	PhiStar   *float64 `json:"phi_star"`
	P         *float64 `json:"p_at_delta_star"`
	QbarJ     *float64 `json:"qbar_j"`
}) {
	const rel = 1e-10
	i, j := ShiftedExponential{in.MuI, in.BetaI}, ShiftedExponential{in.MuJ, in.BetaJ}
	got := thresholdExponentialPair(i, j, 0, 1)
	near(t, "qbar_j", j.Mean(), want.QbarJ, rel, 0)
	near(t, "kappa", ProbExceeds(i, j, in.MuI-in.MuJ), want.Kappa, rel, 0)
	near(t, "delta*", got.DeltaStar, want.DeltaStar, rel, 0)
	near(t, "phi*", got.PhiStar, want.PhiStar, rel, 0)
	near(t, "p*", got.PStar, want.P, rel, 0)
	near(t, "p at delta*", ProbExceeds(i, j, got.DeltaStar), want.P, rel, 0)
}

func checkAlg2(t *testing.T, in struct {
	Populations [][]float64
	DrawIndex   []int `json:"draw_index"`
	Gamma, B    float64
}, want struct {
	J, Action    int
	Qbar         []float64
	Delta, P     []*float64
	U            []float64
	UStrict      []float64 `json:"u_strict"`
	ActionStrict int       `json:"action_strict"`
}) {
	const rel = 1e-11
	h := Discounted(in.Gamma)
	arms := make([]*Population, len(in.Populations))
	greedy := 0
	for i, members := range in.Populations {
		p := must.Get(NewPopulation(members, PopulationConfig{}))(t)
		arms[i] = p
		vectors.Close(t, "qbar", p.Mean(), want.Qbar[i], rel, 0)
		if p.Mean() > arms[greedy].Mean() {
			greedy = i
		}
	}
	if greedy != want.J {
		t.Fatalf("greedy arm %d, want %d", greedy, want.J)
	}
	known := arms[greedy].Mean()
	c := Comparison{Known: known, LowerBound: in.B, Hold: 1}
	action, strict := greedy, greedy
	value, strictValue := h.Total()*known, h.Total()*known
	vectors.Close(t, "u of the greedy arm", value, want.U[greedy], rel, 0)
	for i, p := range arms {
		if i == greedy {
			continue
		}
		x := p.Identified(in.DrawIndex[i])
		delta := x - known
		near(t, "delta", delta, want.Delta[i], rel, 1e-15)
		prob := p.Exceed(x)
		near(t, "p", prob, want.P[i], rel, 0)
		for m := range p.Len() {
			if p.Identity(m) == in.DrawIndex[i] && float64(p.Rank(m))/float64(p.Len()) != prob {
				t.Errorf("rank %d of %d disagrees with p %v", p.Rank(m), p.Len(), prob)
			}
		}
		u := ExplorationBound(h, c, delta, prob)
		vectors.Close(t, "u", u, want.U[i], rel, 0)
		if u > value {
			action, value = i, u
		}
		u = ExplorationBound(h, c, delta, p.Exceed(math.Nextafter(x, math.Inf(1))))
		vectors.Close(t, "u strict", u, want.UStrict[i], rel, 0)
		if u > strictValue {
			strict, strictValue = i, u
		}
	}
	if action != want.Action {
		t.Errorf("action %d, want %d", action, want.Action)
	}
	if strict != want.ActionStrict {
		t.Errorf("strict action %d, want %d", strict, want.ActionStrict)
	}
}

func checkBetaPair(t *testing.T, in struct {
	AI    float64 `json:"a_i"`
	BI    float64 `json:"b_i"`
	AJ    float64 `json:"a_j"`
	BJ    float64 `json:"b_j"`
	Delta float64
}, want struct{ P float64 }) {
	vectors.Close(t, "p", ProbExceeds(Beta{in.AI, in.BI}, Beta{in.AJ, in.BJ}, in.Delta), want.P, 1e-8, 1e-10)
}

func checkBeliefIndex(t *testing.T, in struct {
	Belief anyBelief
	B, Rho float64
}, want struct{ U, Uplus, VPI, Mean *float64 }) {
	near(t, "mean", in.Belief.Mean(), want.Mean, 1e-9, 0)
	checkIndices(t, in.Belief.Belief, in.Rho, in.B, want.U, want.Uplus, want.VPI, 1e-9)
}

func checkGittins(t *testing.T, in struct{ A, B, Gamma float64 }, want struct {
	Gittins, Mean *float64
	U             *float64 `json:"lambda_U"`
	Uplus         *float64 `json:"lambda_Uplus"`
	VPI           *float64 `json:"lambda_VPI"`
	KG1           *float64 `json:"lambda_KG1"`
}) {
	const abs = 1e-8
	arm := Beta{in.A, in.B}
	rho := Discounted(in.Gamma).Share(1)
	near(t, "Gittins", Gittins(in.A, in.B, in.Gamma), want.Gittins, 0, abs)
	near(t, "mean", arm.Mean(), want.Mean, 0, abs)
	near(t, "U", Index(U, arm, rho, 0), want.U, 0, abs)
	near(t, "U+", Index(UPlus, arm, rho, 0), want.Uplus, 0, 1e-5)
	near(t, "V", Index(V, arm, rho, 0), want.VPI, 0, abs)
	near(t, "KG1", knowledgeGradientIndex(in.A, in.B, in.Gamma), want.KG1, 0, abs)
}

func checkBayesTwoArmed(t *testing.T, in struct {
	A1, B1, A2, B2 float64
	Pulls          int
}, want struct {
	Q      []float64
	Value  *float64
	Greedy *float64 `json:"greedy_value"`
	Best   *int     `json:"best_action"`
}) {
	const abs = 1e-10
	priors := []Beta{{in.A1, in.B1}, {in.A2, in.B2}}
	h := Finite(in.Pulls - 1)
	plan := must.Get(NewPlan(priors, h, in.Pulls, 0))(t)
	for arm, q := range plan.first {
		vectors.Close(t, fmt.Sprintf("Q of arm %d", arm), q, want.Q[arm], 0, abs)
	}
	near(t, "value", plan.Value(), want.Value, 0, abs)
	same(t, "best", plan.Best(make([]int, 4)), want.Best)
	greedy := must.Get(GreedyValue(priors, h, in.Pulls))(t)
	near(t, "greedy", greedy, want.Greedy, 0, abs)
}

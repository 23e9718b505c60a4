package options

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/internal/vectors"
	"github.com/rlrun/rlrun/mdp"
)

type optionsInput struct {
	Members []json.RawMessage
	Eps, B  float64
}

type indices struct{ U, Uplus, VPI float64 }

type optionsExpect struct {
	GreedyPolicy mdp.Deterministic `json:"greedy_policy"`
	GreedyGain   float64           `json:"greedy_gain_mean_model"`
	GreedyValues []float64         `json:"greedy_values"`
	TMembers     []*int            `json:"T_eps_members"` // null: never
	T            int
	Options      []struct {
		Policy      mdp.Deterministic
		Values      []float64
		QbarOption  float64 `json:"qbar_option"`
		QbarGreedy  float64 `json:"qbar_greedy"`
		MeanCompare struct {
			PhiStar     *float64 `json:"phi_star"`
			PhiInfinite bool     `json:"phi_infinite"`
			GammaStar   float64  `json:"gamma_star"`
		} `json:"mean_compare"`
		Paired struct {
			Ratio     *float64
			Infinite  bool
			GammaStar float64 `json:"gamma_star"`
			SupDeltaP float64 `json:"sup_delta_p"`
			VPI       float64
		}
		PlusDeltaP struct {
			GammaStar float64 `json:"gamma_star"`
		} `json:"plus_delta_p"`
		PlusVPI struct {
			GammaStar float64 `json:"gamma_star"`
		} `json:"plus_vpi"`
		E     float64
		Index []struct {
			Gamma, Rho     float64
			Option, Greedy indices
		}
		Decisions []struct {
			Gamma       float64
			MeanCompare bool `json:"mean_compare"`
			Paired      bool
			PlusDeltaP  bool `json:"plus_delta_p"`
			PlusVPI     bool `json:"plus_vpi"`
		}
	}
	InfoUniform struct {
		ValuesAfter []float64 `json:"values_after"`
		UniformGain []float64 `json:"uniform_gain"`
		E           float64
		GammaDeltaP float64 `json:"gamma_star_delta_p"`
		GammaVPI    float64 `json:"gamma_star_vpi"`
		SupDeltaP   float64 `json:"sup_delta_p"`
		VPI         float64
	} `json:"info_uniform"`
}

func TestReference(t *testing.T) {
	f := must.Get(vectors.Read())(t)
	vectors.Run(t, f, "options", checkReference)
}

func checkReference(t *testing.T, in optionsInput, want optionsExpect) {
	var members []*mdp.Tabular
	for _, raw := range in.Members {
		m := must.Get(mdp.ParseModel(bytes.NewReader(raw)))(t)
		members = append(members, m)
	}
	red := must.Get(reduce(members, ReduceConfig{
		Kinds: []Kind{Members, Constants, Uniform},
	}))(t)
	rel := func(what string, got, want float64) {
		t.Helper()
		vectors.Close(t, what, got, want, 1e-9, 1e-13)
	}
	wantTimes := make([]int, len(want.TMembers))
	for k, steps := range want.TMembers {
		if wantTimes[k] = mdp.Never; steps != nil {
			wantTimes[k] = *steps
		}
	}
	var times []int
	for _, m := range members {
		mix, err := mdp.MixingTime(m, want.GreedyPolicy, mdp.MixingConfig{Epsilon: in.Eps})
		if mix == nil {
			t.Fatal(err)
		}
		times = append(times, mix.Max)
	}
	if !slices.Equal(times, wantTimes) {
		t.Errorf("mixing times %v, want %v", times, wantTimes)
	}
	average := must.Get(meanModel(members))(t)
	sol := must.Get(mdp.SolveAverage(average, mdp.SolverConfig{}))(t)
	rel("gain of the mean model", sol.Gain[0], want.GreedyGain)

	// The candidates are the greedy policy, those expected, and the uniform one.
	if got := red.Candidates[0].Policy.(mdp.Deterministic); !slices.Equal(got, want.GreedyPolicy) {
		t.Fatalf("greedy policy %v, want %v", got, want.GreedyPolicy)
	}
	if len(red.Candidates) != len(want.Options)+2 {
		t.Fatalf("%d candidates, want %d", len(red.Candidates), len(want.Options)+2)
	}
	values := func(what string, got, want []float64) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
		}
		for k := range got {
			rel(fmt.Sprintf("%s in model %d", what, k), got[k], want[k])
		}
	}
	y := red.Values(0, 0)
	values("greedy", y, want.GreedyValues)

	// decide asks for a choice between greedy and one other option.
	decide := func(x int, gamma float64, score *Rule, kind bandit.IndexKind) Decision {
		t.Helper()
		p := Problem{Arms: []Arm{red.Candidates[0].Arm, red.Candidates[x].Arm},
			Values:  slices.Concat(y, red.Values(x, 0)),
			Optimal: red.Optimal(0), Hold: want.T}
		return must.Get(Decide(DeciderConfig{Horizon: bandit.Discounted(gamma), Rule: score, Bound: kind, LowerBound: in.B}, &p, nil))(t)
	}
	// The threshold is where the decision changes.
	around := func(what string, x int, gammaStar float64, score *Rule, kind bandit.IndexKind) {
		t.Helper()
		least := max(1e-9, 1e-14/(1-gammaStar)) // near one doubles resolve no less
		for _, step := range []float64{-least, least} {
			if gamma := gammaStar + step*(1-gammaStar); gamma >= 0 && gamma < 1 {
				if got := decide(x, gamma, score, kind); got.Explore != (step > 0) {
					t.Errorf("%s: at γ = γ* %+g of option %d: %+v", what, step, x, got)
				}
			}
		}
	}
	for i, w := range want.Options {
		x := slices.IndexFunc(red.Candidates, func(c Candidate) bool {
			p, ok := c.Policy.(mdp.Deterministic)
			return ok && slices.Equal(p, w.Policy)
		})
		if x != i+1 {
			t.Fatalf("policy %v is candidate %d, want %d", w.Policy, x, i+1)
		}
		v := red.Values(x, 0)
		values(red.Candidates[x].Name, v, w.Values)
		rel("q̄ of the option", mean(v), w.QbarOption)
		rel("q̄ of greedy", mean(y), w.QbarGreedy)
		rel("e", mean(v), w.E)

		pop := must.Get(bandit.NewPopulation(v, bandit.PopulationConfig{}))(t)
		th := bandit.Threshold(pop, bandit.Comparison{Known: mean(y), LowerBound: in.B, Hold: want.T})
		if w.MeanCompare.PhiStar != nil {
			rel("φ*", th.PhiStar, *w.MeanCompare.PhiStar)
		}
		rel("γ* with the mean", th.GammaStar, w.MeanCompare.GammaStar)
		pair := jointThreshold(v, y, in.B)
		if w.Paired.Ratio != nil {
			rel("paired ratio", pair.Ratio, *w.Paired.Ratio)
		}
		rel("γ* paired", pair.GammaStar(want.T), w.Paired.GammaStar)
		rel("sup δp", pair.SupDeltaP, w.Paired.SupDeltaP)
		rel("VPI", pair.Gain, w.Paired.VPI)
		rel("γ⁺* of δp", gammaPlus(pair.Gap, pair.SupDeltaP, want.T), w.PlusDeltaP.GammaStar)
		rel("γ⁺* of VPI", gammaPlus(pair.Gap, pair.Gain, want.T), w.PlusVPI.GammaStar)

		around("mean", x, w.MeanCompare.GammaStar, RuleOptimistic, bandit.U)
		around("paired", x, w.Paired.GammaStar, RuleCommonModel, bandit.U)
		around("U⁺", x, w.PlusDeltaP.GammaStar, RuleCommonModel, bandit.UPlus)
		around("V", x, w.PlusVPI.GammaStar, RuleCommonModel, bandit.V)
		for _, c := range w.Decisions {
			for _, r := range []struct {
				score *Rule
				kind  bandit.IndexKind
				want  bool
			}{{RuleOptimistic, bandit.U, c.MeanCompare}, {RuleCommonModel, bandit.U, c.Paired}, {RuleCommonModel, bandit.UPlus, c.PlusDeltaP}, {RuleCommonModel, bandit.V, c.PlusVPI}} {
				if got := decide(x, c.Gamma, r.score, r.kind); got.Explore != r.want {
					t.Errorf("option %d, γ = %v, %v %v: explore %v, want %v", x, c.Gamma, r.score, r.kind, got.Explore, r.want)
				}
			}
		}
		for _, c := range w.Index {
			for kind, l := range map[bandit.IndexKind][2]float64{
				bandit.U: {c.Option.U, c.Greedy.U}, bandit.UPlus: {c.Option.Uplus, c.Greedy.Uplus}, bandit.V: {c.Option.VPI, c.Greedy.VPI}} {
				d := decide(x, c.Gamma, RuleIndex, kind)
				rel("ρ", d.Share, c.Rho)
				vectors.Close(t, "lead of the index", d.Advantage, l[0]-l[1], 1e-9, 1e-9)
				if d.Explore != (l[0] > l[1]) && l[0] != l[1] {
					t.Errorf("option %d, γ = %v, index %v: explore %v, indices %v", x, c.Gamma, kind, d.Explore, l)
				}
			}
		}
	}

	info := len(red.Candidates) - 1
	values("uniform", red.Values(info, 0), want.InfoUniform.UniformGain)
	values("optimal", red.Optimal(0), want.InfoUniform.ValuesAfter)
	rel("e of uniform", mean(red.Values(info, 0)), want.InfoUniform.E)
	pair := jointThreshold(red.Optimal(0), y, in.B)
	rel("sup δp of uniform", pair.SupDeltaP, want.InfoUniform.SupDeltaP)
	rel("VPI of uniform", pair.Gain, want.InfoUniform.VPI)
	around("uniform, U⁺", info, want.InfoUniform.GammaDeltaP, RuleCommonModel, bandit.UPlus)
	around("uniform, V", info, want.InfoUniform.GammaVPI, RuleCommonModel, bandit.V)
}

func newRNG(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

package options

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/internal/vectors"
)

// joint compares two arms by K samples that were drawn jointly. So a bad case
// for one arm may also be bad for the other. It is the joint form of the
// corrected Lemma 1 (docs/theory.md §1.4, §3.2).
type joint struct {
	// Ratio takes the place of φ*/(q̄_j−b): explore exactly if ρ_T is less.
	// It is sup_δ δp/E[(q_j−b)1{q_i−q_j<δ}], +Inf if exploring always pays.
	Ratio float64
	// SupDeltaP is sup_δ δp with p = P(q_i−q_j ≥ δ).
	SupDeltaP float64
	// Gain is E(q_i−q_j)⁺.
	Gain float64
	// Gap is q̄_j−q̄_i.
	Gap float64
}

// jointThreshold compares arm i with arm j by samples of equal weight, the
// k-th of both drawn together, and the lower bound b. The slices are read only;
// they must be of one length, at least one.
func jointThreshold(qi, qj []float64, lowerBound float64) joint {
	n := len(qi)
	if n == 0 || len(qj) != n {
		panic("joint samples need one common, positive length")
	}
	type pair struct{ lead, cost float64 }
	pairs := make([]pair, n)
	rest := 0.0
	var t joint
	for k := range pairs {
		pairs[k] = pair{qi[k] - qj[k], qj[k] - lowerBound}
		rest += pairs[k].cost
		t.Gap -= pairs[k].lead / float64(n)
		t.Gain += max(0, pairs[k].lead) / float64(n)
	}
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Compare(b.lead, a.lead) })
	// Costs of the pairs that fall short, summed from the far end.
	short := make([]float64, n+1)
	for m := n - 1; m >= 0; m-- {
		short[m] = short[m+1] + pairs[m].cost
	}
	if rest < 0 {
		t.Ratio = math.Inf(1) // δ → ∞: the sure cost is negative
	}
	for m, p := range pairs {
		if p.lead <= 0 {
			break
		}
		if m+1 < n && pairs[m+1].lead == p.lead {
			continue
		}
		gain := p.lead * float64(m+1)
		t.SupDeltaP = max(t.SupDeltaP, gain/float64(n))
		if short[m+1] <= 0 {
			t.Ratio = math.Inf(1)
		} else {
			t.Ratio = max(t.Ratio, gain/short[m+1])
		}
	}
	return t
}

// GammaStar returns the discount with an infinite horizon above which holding
// arm i for T pulls pays: 0 always, 1 never.
func (t joint) GammaStar(hold int) float64 {
	if t.Ratio >= 1 {
		return 0
	}
	return math.Exp(math.Log1p(-t.Ratio) / float64(hold))
}

// gammaPlus returns the discount with an infinite horizon above which the
// shift-invariant tests explore: [gap/(gap+gain)]^{1/T}. gap = q̄_j−q̄_i is the
// known cost of a pull. gain is sup δp for U⁺ or E(q_i−q̄_j)⁺ for V
// (docs/theory.md §1.8). A gap ≤ 0 always pays if the gain is positive.
func gammaPlus(gap, gain float64, hold int) float64 {
	switch {
	case !(gain > 0):
		return 1
	case gap <= 0:
		return 0
	}
	return math.Pow(gap/(gap+gain), 1/float64(hold))
}

// The counter-example of docs/theory.md §1.4 to the lemma as printed: with the
// arms' values drawn jointly the corrected form never explores.
func TestJointFormSeesTheCounterExample(t *testing.T) {
	got := jointThreshold([]float64{0.4, 0.4}, []float64{0, 1}, 0)
	// δ = 0.4 in half the cases, at an expected cost of 1/2 in the other.
	vectors.Close(t, "ratio", got.Ratio, 0.4, 1e-15, 0)
	vectors.Close(t, "sup δp", got.SupDeltaP, 0.2, 1e-15, 0)
	vectors.Close(t, "gain", got.Gain, 0.2, 1e-15, 0)
	vectors.Close(t, "gap", got.Gap, 0.1, 1e-12, 0)
	vectors.Close(t, "gamma*", got.GammaStar(2), math.Sqrt(0.6), 1e-15, 0)
	always := jointThreshold([]float64{2, 3}, []float64{1, 1}, 0)
	if !math.IsInf(always.Ratio, 1) || always.GammaStar(1) != 0 {
		t.Errorf("an arm that is better every time: %+v", always)
	}
	never := jointThreshold([]float64{0, 1}, []float64{1, 1}, 0)
	if never.Ratio != 0 || never.GammaStar(3) != 1 {
		t.Errorf("an arm that is better never: %+v", never)
	}
}

// Against a known arm the joint form is the plain one.
func TestJointAgainstAConstant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		known := rapid.Float64Range(-1, 2.5).Draw(t, "known")
		cost := math.Pow(10, rapid.Float64Range(-3, 1).Draw(t, "log10 cost"))
		c := bandit.Comparison{Known: known, LowerBound: known - cost, Hold: rapid.IntRange(1, 30).Draw(t, "T")}
		x := rapid.SliceOfN(rapid.Float64Range(-2, 4), 1, 30).Draw(t, "members")
		y := make([]float64, len(x))
		for k := range y {
			y[k] = c.Known
		}
		p := must.Get(bandit.NewPopulation(x, bandit.PopulationConfig{}))(t)
		got, want := jointThreshold(x, y, c.LowerBound), bandit.Threshold(p, c)
		if d := math.Abs(got.Ratio - want.ShareStar); d > 1e-9*want.ShareStar && !math.IsInf(want.ShareStar, 1) {
			t.Fatalf("ratio %v, share* %v", got.Ratio, want.ShareStar)
		}
		if _, sup := bandit.BestDelta(p, c, 0); math.Abs(sup-got.SupDeltaP) > 1e-12 {
			t.Fatalf("sup δp %v, %v", got.SupDeltaP, sup)
		}
		if math.Abs(p.Gain(c.Known)-got.Gain) > 1e-12 || math.Abs(c.Known-p.Mean()-got.Gap) > 1e-12 {
			t.Fatalf("gain %v, gap %v", got.Gain, got.Gap)
		}
	})
}

func TestGammaPlus(t *testing.T) {
	vectors.Close(t, "U+", gammaPlus(0.1, 0.3, 2), 0.5, 1e-15, 0)
	if gammaPlus(0.1, 0, 1) != 1 || gammaPlus(0, 0.1, 1) != 0 || gammaPlus(-1, 0.1, 1) != 0 {
		t.Error("edges of γ⁺*")
	}
}

package options

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/internal/must"
)

// What is logged is what was done: an advantage is above zero if and only if the option is chosen. Equal values in
// another order give means that differ by rounding alone.
func TestAdvantageAboveZeroIsChosen(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, rule := range []*Rule{RuleVPI, RuleKnowledgeGradient, RuleIndex, RuleOptimistic, RuleOptimisticStochastic, RuleCommonModel} {
		for range 2000 {
			a, b := make([]float64, 7), make([]float64, 7)
			for i := range a {
				a[i] = float64(rng.IntN(4)) / 10
			}
			for i, j := range rng.Perm(7) {
				b[i] = a[j]
			}
			p := Problem{Arms: []Arm{{Name: "a"}, {Name: "b"}}, Values: append(a, b...), Hold: 1}
			d := must.Get(Decide(DeciderConfig{Rule: rule, Horizon: bandit.Discounted(0.9)}, &p, rng))(t)
			if d.Explore != (d.Advantage > 0) {
				t.Fatalf("%s: advantage %v, explores %v", rule.Name, d.Advantage, d.Explore)
			}
		}
	}
	p := Problem{Arms: []Arm{{Name: "a"}, {Name: "b"}}, Values: []float64{1, 2}, Hold: 1}
	if _, err := Decide(DeciderConfig{Rule: RuleUpperConfidence, Horizon: bandit.Discounted(0.9)}, &p, rng); err == nil {
		t.Error("a problem without trials is decided by them")
	}
}

// The size of a problem is that of its largest value, and is not finite if a value is not.
func TestLargestSize(t *testing.T) {
	for _, values := range [][]float64{{}, {-3}, {1, -3}, {-3, 1, 2}, {0, 1, -3, 2, math.Copysign(0, -1)}} {
		want := 0.0
		for _, v := range values {
			want = max(want, math.Abs(v))
		}
		if got := largestSize(values); got != want {
			t.Errorf("%v: %v", values, got)
		}
		for i := range values {
			for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				other := append([]float64{}, values...)
				other[i] = bad
				if got := largestSize(other); got-got == 0 {
					t.Errorf("%v: %v", other, got)
				}
			}
		}
	}
}

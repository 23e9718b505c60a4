package options

import (
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

package options

import (
	"math"
	"testing"

	"github.com/rlrun/rlrun/bandit"
)

// By hand: y is worth 0.5 or 0.7, z 0.2 or 0.9 with mean 0.55, and x 0 or 1.1.
// VPI(y) = 0.05/2, VPI(z) = 0.3/2, VPI(x) = 0.5/2, so that x leads by
// 0.55 + 0.25 − 0.6 − 0.025. Random actions of value 0.1 reveal with ζ = 1/2 what is
// worth 1 and 1.2: they trail by 0.1 + 0.5·0.5 − 0.625.
func TestVPI(t *testing.T) {
	arms := []Arm{{Name: "y"}, {Name: "z"}, {Name: "x"}, {Name: "random", Class: Uninformed, RevealProbability: 0.5}}
	p := Problem{Arms: arms, Values: []float64{0.5, 0.7, 0.2, 0.9, 0, 1.1, 0.1, 0.1}, Optimal: []float64{1, 1.2}, Hold: 3}
	d, err := Decide(DeciderConfig{Rule: RuleVPI, Horizon: bandit.Discounted(0.9)}, &p, nil)
	if err != nil || d.Option != "x" || math.Abs(d.Advantage-0.175) > 1e-15 || math.Abs(d.Delta-0.5) > 1e-15 || d.P != 0.5 {
		t.Errorf("%+v, %v", d, err)
	}
	p.Arms, p.Values = []Arm{arms[0], arms[3]}, []float64{0.5, 0.7, 0.1, 0.1}
	if d, err = Decide(DeciderConfig{Rule: RuleVPI, Horizon: bandit.Discounted(0.9)}, &p, nil); err != nil || d.Explore || math.Abs(d.Advantage+0.25) > 1e-15 {
		t.Errorf("%+v, %v", d, err)
	}
	// Nothing is uncertain, and nothing is explored.
	p.Arms, p.Values = []Arm{arms[0], arms[1]}, []float64{0.5, 0.5, 0.4, 0.4}
	if d, err = Decide(DeciderConfig{Rule: RuleVPI, Horizon: bandit.Discounted(0.9)}, &p, nil); err != nil || d.Explore || d.P != 0 {
		t.Errorf("%+v, %v", d, err)
	}
}

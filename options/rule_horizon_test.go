package options

import (
	"math/rand/v2"
	"testing"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/internal/must"
)

// A rule says that it uses the horizon if and only if the horizon changes what it chooses in some of 300
// random problems. RuleGain is asked about pairs.
func TestRulesSayWhetherTheyUseTheHorizon(t *testing.T) {
	for _, rule := range Rules {
		rng, differs := newRNG(5), false
		for range 300 {
			p := &Problem{Arms: make([]Arm, 4), Hold: 1 + rng.IntN(9), Values: make([]float64, 4*5), Trials: make([]Trial, 4)}
			if rule == RuleGain {
				p.Arms, p.Values, p.Trials = p.Arms[:1], nil, p.Trials[:1]
				p.Pairs = []Pair{{Gain: rng.Float64(), Cost: rng.Float64(), Steps: 1 + 9*rng.Float64()}, {Action: 1, Gain: rng.Float64(), Cost: rng.Float64(), Steps: 2}}
			}
			for i := range p.Values {
				p.Values[i] = rng.NormFloat64()
			}
			for i := range p.Trials {
				p.Trials[i] = Trial{Count: 1 + rng.IntN(5), Steps: 10, Reward: rng.NormFloat64()}
			}
			choice := func(h bandit.Horizon) int {
				d := must.Get(NewDecider(DeciderConfig{Rule: rule, Horizon: h, LowerBound: -3}))(t)
				return must.Get(d.Decide(p, rand.New(rand.NewPCG(1, 2))))(t).Choice
			}
			differs = differs || choice(bandit.Discounted(0.2)) != choice(bandit.Discounted(0.999))
		}
		if differs != rule.Horizon {
			t.Errorf("%s: Horizon is %v, and choices that differ with the horizon: %v", rule, rule.Horizon, differs)
		}
	}
}

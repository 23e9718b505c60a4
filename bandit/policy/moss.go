package policy

import "math"

// MOSS, the minimax optimal strategy in the stochastic case, selects
// argmax_i q̄_i + w·√(max(0, ln(H/(n·n_i)))/n_i) for H pulls of n arms (Audibert & Bubeck 2009). There
// are n_i rewards of arm i, q̄_i is their mean, and w is the width of the range of rewards. An arm
// whose share H/n is used up has no bonus left.
type MOSS struct {
	Horizon *int `json:"horizon,omitempty" jsonschema:"minimum=1,maximum=1000000000000" jsonschema_description:"H, the number of pulls. Default: the number of the pull, which is MOSS-anytime (Degenne & Perchet 2016) with alpha = 1."`
}

func (p MOSS) build(t *setting) (maker, error) {
	width, err := t.width()
	horizon := 0.0
	if p.Horizon != nil {
		horizon = float64(*p.Horizon)
	}
	return func(beliefs) Policy { return newMOSS(t.Arms, width, horizon) }, err
}

// newMOSS makes MOSS-anytime without a horizon, 0.
func newMOSS(n int, width, horizon float64) *upperConfidence {
	u := &upperConfidence{tally: newTally(n, 0)}
	pulls := func(rewards float64) float64 { return rewards + 1 }
	if horizon > 0 {
		pulls = func(float64) float64 { return horizon }
	}
	u.rising = newRising(n, 0, pulls, func(arm int, pulls float64) float64 {
		share := pulls / float64(n)
		return u.means[arm] + width*math.Sqrt(max(0, math.Log(share/float64(u.pulls[arm]))))*u.spread[arm]
	})
	return u
}

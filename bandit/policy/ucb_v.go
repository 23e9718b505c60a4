package policy

import (
	"math"
	"math/rand/v2"
)

// UCBV selects argmax_i q̄_i + √(2·v_i·ζ·ln t/n_i) + 3w·ζ·ln t/n_i (Audibert, Munos & Szepesvári 2009, eq. 1, with
// c = 1). There are t rewards so far, n_i of them of arm i, q̄_i is their mean and v_i their variance, divided by
// n_i, and w is the width of the range of rewards.
type UCBV struct {
	Confidence *float64 `json:"confidence,omitempty" jsonschema:"minimum=0,default=1" jsonschema_description:"ζ; above 1 in their theorem 3. Default: 1, a choice of ours; SMPyBandits has the same."`
}

func (p UCBV) build(t *setting) (maker, error) {
	width, err := t.width()
	return func(beliefs) Policy { return newUCBV(t.Arms, width, *p.Confidence) }, err
}

type ucbV struct {
	upperConfidence
	squares []float64 // sums of squared distances from the means
}

func newUCBV(n int, width, zeta float64) *ucbV {
	u := &ucbV{upperConfidence{tally: newTally(n, 0)}, make([]float64, n)}
	level := func(rewards float64) float64 { return zeta * math.Log(rewards) }
	u.rising = newRising(n, 0, level, func(arm int, level float64) float64 {
		share := level / float64(u.pulls[arm])
		return u.means[arm] + math.Sqrt(2*u.squares[arm]*share)*u.spread[arm] + 3*width*share
	})
	return u
}

func (u *ucbV) Update(arm int, reward float64, rng *rand.Rand) {
	before := reward - u.means[arm]
	u.add(arm, reward)
	u.squares[arm] += before * (reward - u.means[arm])
	u.learned(arm)
}

package modelagents

import (
	"math"

	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// mbieParams are the parameters of MBIE-EB.
type mbieParams struct {
	Gamma float64 `json:"gamma" jsonschema:"minimum=0,exclusiveMaximum=1" jsonschema_description:"Discount; the default is a choice of ours."`
	Beta  float64 `json:"beta" jsonschema:"minimum=0" jsonschema_description:"Bonus of a pair seen once, in units of the range of rewards. The theory asks for √(ln(2SAm/δ)/2)/(1-gamma), m being the visits after which a pair would no longer be updated (Strehl & Littman 2008, Theorem 2), which is far too much in practice; the default is a choice of ours. Where episodes end it has to be smaller, as the bonuses of wandering on count for 1/(1-gamma) steps."`
	Bounds
}

// MBIEEB returns model-based interval estimation with exploration bonus (Strehl &
// Littman 2008) as a plugin: acting greedily by the solution of
//
//	Q(s,a) = r̂(s,a) + β/√n(s,a) + γ Σ_u p̂(u|s,a) max_b Q(u,b),
//
// where pairs that were never tried have the largest return there can be, which no
// other may exceed (the latter is ours; it leaves Q optimistic). It assumes that
// observations are Markov states, that rewards are bounded, and of termination what
// PSRL does. A truncated step teaches like any other. The solution is kept up to
// date to a residual of 1e-3 of the range of rewards.
func MBIEEB() vector.Plugin {
	return finite.Plugin("rlrun/mbie-eb@1",
		"MBIE-EB (Strehl & Littman 2008): the best policy of the model seen, with a bonus of β/√n.",
		mbieParams{Gamma: 0.99, Beta: 0.1},
		func(p mbieParams, t finite.Task) (func() finite.Learner, error) {
			if err := checkDiscount(p.Gamma); err != nil {
				return nil, err
			}
			if !(p.Beta >= 0) || math.IsInf(p.Beta, 0) {
				return nil, lanes.Invalid("beta is %v, must be finite and not negative", p.Beta)
			}
			low, high, err := p.Bounds.of(t)
			if err != nil {
				return nil, err
			}
			return func() finite.Learner {
				x := &mbie{bonus: p.Beta * (high - low)}
				x.init(t, x, p.Gamma, low, high)
				return x
			}, nil
		})
}

// checkDiscount validates the discount of an agent that plans for ever.
func checkDiscount(gamma float64) error {
	if !(gamma >= 0 && gamma < 1) {
		return lanes.Invalid("gamma is %v, must be in [0,1)", gamma)
	}
	return nil
}

type mbie struct {
	sweeping
	bonus float64 // of a pair tried once
}

// untried implements optimism.
func (x *mbie) untried() float64 { return x.top }

// tried implements optimism.
func (x *mbie) tried(_ int, n, reward, after float64) float64 {
	return reward + x.bonus/math.Sqrt(n) + after
}

// ended implements optimism.
func (x *mbie) ended() float64 { return 0 }

package modelagents

import (
	"math"

	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// mbieParams are the parameters of MBIE-EB.
type mbieParams struct {
	Gamma float64 `json:"gamma" jsonschema:"minimum=0,exclusiveMaximum=1" jsonschema_description:"Discount; the default is a choice of ours."`
	Beta  float64 `json:"beta" jsonschema:"minimum=0" jsonschema_description:"Bonus of a pair seen once, in units of the range of rewards. The theory requires √(ln(2SAm/δ)/2)/(1-gamma), where m is the number of visits after which a pair is no longer updated (Strehl & Littman 2008, Theorem 2). This is far too large in practice; the default is a choice of ours. It must be smaller in episodic tasks, as bonuses on a longer way count for 1/(1-gamma) steps."`
	finite.Bounds
}

// MBIEEB returns model-based interval estimation with exploration bonus (Strehl &
// Littman 2008) as a plugin: acting greedily by the solution of
//
//	Q(s,a) = r̂(s,a) + β/√n(s,a) + γ Σ_u p̂(u|s,a) max_b Q(u,b).
//
// Pairs that were never tried have the largest possible return. No other pair may exceed
// it (this limit is ours; Q stays optimistic). It assumes that rewards are bounded. The
// solution is kept up to date to a residual of 1e-3 of the range of rewards.
func MBIEEB() vector.Plugin {
	return modelbased.Plugin("rlrun/mbie-eb@1",
		"MBIE-EB (Strehl & Littman 2008): the best policy of the empirical model, with a bonus of β/√n.",
		mbieParams{Gamma: 0.99, Beta: 0.1},
		func(p mbieParams, t finite.Task) (func() modelbased.Design, error) {
			low, high, err := p.Bounds.Of(t)
			return func() modelbased.Design {
				m := &mbie{gamma: p.Gamma, top: t.LargestReturn(high, p.Gamma), bonus: p.Beta * (high - low)}
				d := modelbased.Stepwise(m, p.Gamma, high-low)
				d.Planner.(*modelbased.Greedy).Local = true
				return d
			}, err
		})
}

// mbie is the empirical model with bonuses.
type mbie struct {
	modelbased.Data
	gamma, top, bonus float64 // the discount, the largest return, and the bonus of a pair tried once
}

// Backup implements modelbased.Optimism.
func (m *mbie) Backup(q []float64, s int, value []float64, _ float64) {
	for a := range q {
		q[a] = m.top
		if n := m.Counts.N(s, a); n > 0 {
			q[a] = min(m.top, m.Counts.Rewards(s, a).Mean+m.bonus/math.Sqrt(n)+m.gamma*m.Sum(0, s, a, value)/n)
		}
	}
}

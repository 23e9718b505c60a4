package modelagents

import (
	"math"

	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// intervalParams are the parameters of MBIE.
type intervalParams struct {
	Gamma   float64 `json:"gamma" jsonschema:"minimum=0,exclusiveMaximum=1" jsonschema_description:"Discount; the default is a choice of ours."`
	Delta   float64 `json:"delta" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1" jsonschema_description:"Accepted probability that the interval of a pair fails; the default is a choice of ours."`
	Scaling float64 `json:"scaling" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Factor of the widths of the intervals. 1 is the theory (Strehl & Littman 2008, §3). The default is a choice of ours, made on development tasks (docs/studies/families.md, Defaults of learners)."`
	finite.Bounds
}

// MBIE returns model-based interval estimation (Strehl & Littman 2008) as a plugin. It acts
// greedily by the solution of
//
//	Q(s,a) = r̂(s,a) + w √(ln(2/δ)/(2n)) + γ max_p Σ_u p(u) max_b Q(u,b)
//
// for rewards in a range of width w and a pair tried n times. p differs from the frequencies
// of successors by at most √(2 ln((2^S−2)/δ)/n) in the L1 norm. No value exceeds the largest
// return (ours), that of untried pairs. The solution is kept up to date as MBIE-EB's.
func MBIE() vector.Plugin {
	return modelbased.Plugin("rlrun/mbie@1",
		"MBIE (Strehl & Littman 2008): the best policy of the best model within intervals of rewards and transitions.",
		intervalParams{Gamma: 0.99, Delta: 0.05, Scaling: 0.01},
		func(p intervalParams, t finite.Task) (func() modelbased.Design, error) {
			low, high, err := p.Bounds.Of(t)
			subsets := float64(t.States)*math.Ln2 + math.Log1p(-math.Exp2(1-float64(t.States))) // ln(2^S−2)
			return func() modelbased.Design {
				m := &intervals{gamma: p.Gamma, top: t.LargestReturn(high, p.Gamma)}
				m.pairs = make([]confidencePair, t.States*t.Actions)
				m.reward = p.Scaling * (high - low) * math.Sqrt(math.Log(2/p.Delta)/2)
				m.width = p.Scaling * math.Sqrt(2*max(0, subsets-math.Log(p.Delta)))
				return modelbased.Stepwise(m, p.Gamma, high-low)
			}, err
		})
}

// intervals is a confidence set for discounted values.
type intervals struct {
	confidence
	gamma, top, reward, width float64 // top is the largest return; the widths are those after one try
}

// Backup implements modelbased.Optimism.
func (m *intervals) Backup(q []float64, s int, value []float64, _ float64) {
	m.Sweep(value, 1)
	for a := range q {
		q[a] = m.top
		if n := m.Counts.N(s, a); n > 0 {
			m.pairs[s*len(q)+a].width = m.width / math.Sqrt(n)
			q[a] = min(m.top, m.Counts.Rewards(s, a).Mean+m.reward/math.Sqrt(n)+m.gamma*m.expect(s, a, value))
		}
	}
}

package modelagents

import (
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// bebParams are the parameters of BEB.
type bebParams struct {
	Gamma float64 `json:"gamma" jsonschema:"minimum=0,exclusiveMaximum=1" jsonschema_description:"Discount; the default is a choice of ours. The paper plans for H steps."`
	Beta  float64 `json:"beta" jsonschema:"minimum=0" jsonschema_description:"Size of the bonus, in units of the range of rewards. The theory requires 2H² (Kolter & Ng 2009, Theorem 2), which is far too much in practice; the default is a choice of ours."`
	Alpha float64 `json:"alpha" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Weight of the prior, in steps of every pair of state and action. In the prior a step stays in its state and pays the smallest reward. The prior is a choice of ours. The default is a choice of ours, made on development tasks (docs/studies/families.md, Defaults of learners)."`
	finite.Bounds
}

// BEB returns the Bayesian exploration bonus (Kolter & Ng 2009) as a plugin: acting
// greedily by the solution of
//
//	Q(s,a) = r̄(s,a) + β/(1 + α + n(s,a)) + γ Σ_u p̄(u|s,a) max_b Q(u,b)
//
// in the posterior mean model, which counts α prior steps and the n steps seen. No value
// exceeds the largest return (ours). The bonus falls faster than that of MBIE-EB: BEB is
// near-Bayesian, and need not find the optimal policy. It assumes that rewards are
// bounded, and keeps its solution up to date as MBIE-EB does.
func BEB() vector.Plugin {
	return modelbased.Plugin("rlrun/beb@1",
		"BEB (Kolter & Ng 2009): the best policy of the posterior mean model, with a bonus of β/(1 + n).",
		bebParams{Gamma: 0.99, Beta: 1, Alpha: 0.01},
		func(p bebParams, t finite.Task) (func() modelbased.Design, error) {
			low, high, err := p.Bounds.Of(t)
			return func() modelbased.Design {
				m := &beb{p: &p, low: low, bonus: p.Beta * (high - low), top: t.LargestReturn(high, p.Gamma)}
				d := modelbased.Stepwise(m, p.Gamma, high-low)
				p := d.Planner.(*modelbased.Greedy)
				p.Local, p.Own = true, true
				return d
			}, err
		})
}

// beb is the posterior mean model with bonuses.
type beb struct {
	modelbased.Data
	p               *bebParams
	low, bonus, top float64 // the smallest reward, β in its units, and the largest return
}

// Backup implements modelbased.Optimism.
func (m *beb) Backup(q []float64, s int, value []float64, _ float64) {
	prior := m.p.Alpha * (m.low + m.p.Gamma*value[s])
	for a := range q {
		n := m.Counts.N(s, a)
		sum := prior + n*m.Counts.Rewards(s, a).Mean + m.p.Gamma*m.Sum(0, s, a, value)
		q[a] = min(m.top, sum/(m.p.Alpha+n)+m.bonus/(1+m.p.Alpha+n))
	}
}

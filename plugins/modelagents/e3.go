package modelagents

import (
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/internal/argmax"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// e3Params are the parameters of E³.
type e3Params struct {
	M       int     `json:"m" jsonschema_extras:"x-beyond=no state is ever known" jsonschema:"minimum=1" jsonschema_description:"A state is known when each of its actions was taken m times. The theory requires numbers far too large in practice (m_known of Kearns & Singh 2002). The default is a choice of ours, made on development tasks (docs/studies/families.md, Defaults of learners). Deterministic tasks need 1."`
	Horizon int     `json:"horizon" jsonschema:"minimum=1" jsonschema_description:"T: the number of steps for which it explores or exploits before it decides again. In the paper T is a mixing time of the policies that it is compared with. The default is a choice of ours."`
	Gamma   float64 `json:"gamma" jsonschema:"minimum=0,maximum=1" jsonschema_description:"Discount for exploiting. 1: the policy with the largest reward in the remaining steps, as in the paper's undiscounted case. Below 1: the best discounted policy, which reaches the end of an episode sooner and does not change towards the end of the T steps; the default is a choice of ours."`
	Escape  float64 `json:"escape" jsonschema:"exclusiveMinimum=0,maximum=1" jsonschema_description:"It explores if the probability of reaching an unknown state within T steps is at least this. The paper's value is ε over twice the largest return of T steps, relative to T, where ε is the allowed distance of its return from the best. The default is the value for ε = 0.1, a choice of ours, and rewards up to 1."`
	finite.LowBound
}

// E3 returns E³, explicit explore or exploit (Kearns & Singh 2002), as a plugin. In
// states that are not known it takes the action taken least often there: balanced
// wandering. In known ones it holds one of two policies for T steps, or until it
// enters an unknown state. If it can reach an unknown state in that time with a
// chance of at least escape, it takes the policy with the largest such chance.
// Otherwise it takes the best policy in the model of the known states. Outside of these
// every step pays the smallest reward. By the paper's explore-or-exploit lemma the second
// is then nearly best. This form of the algorithm does not need the optimal return.
//
// Plans are made when a state becomes known or the visits to a pair of known states
// have doubled (the latter is ours). E³ assumes that observations are Markov states,
// that rewards are bounded, and of termination what PSRL does. A truncated step
// teaches like any other.
func E3() vector.Plugin {
	return modelbased.Plugin("rlrun/e3@1",
		"E³ (Kearns & Singh 2002): it goes to unknown states if it can probably reach one, and otherwise exploits the known states.",
		e3Params{M: 4, Horizon: 20, Gamma: 0.99, Escape: 0.05},
		func(p e3Params, t finite.Task) (func() modelbased.Design, error) {
			if err := finite.CheckHorizon(p.Horizon, t); err != nil {
				return nil, err
			}
			low, err := p.LowBound.Of(t)
			return func() modelbased.Design {
				states := make([]bool, t.States)
				m := &e3Model{visits: float64(p.M), exploit: modelbased.Known{States: states, Outside: low, Forever: low}}
				m.escape = modelbased.Known{States: states, Pays: m.leaves}
				if low > 0 && !t.Spec.Continuing {
					m.exploit.Forever = 0 // at worst the episode ends
				}
				plan := &e3Planner{
					threshold: p.Escape, horizon: p.Horizon,
					escape:  modelbased.Solver{Models: &m.escape, Criterion: modelbased.Criterion{Horizon: p.Horizon}},
					exploit: modelbased.Solver{Models: &m.exploit, Criterion: modelbased.Criterion{Gamma: p.Gamma}, Method: mdp.ModifiedPolicyIteration},
				}
				if p.Gamma == 1 {
					plan.exploit.Horizon = p.Horizon
				}
				return modelbased.Design{
					Construction: m,
					Planner:      plan,
					Trigger:      modelbased.Trigger{Horizon: p.Horizon, Repeat: true, Hold: true, Growth: 1, Known: states, Terminals: true},
					Criterion:    plan.exploit.Criterion,
					Wander:       m.wander,
				}
			}, err
		})
}

// e3Model is two models of the known states. One pays the probability of entering an
// unknown state: as one entry is all there can be, its values are the chances to escape.
// The other pays what the task pays.
type e3Model struct {
	modelbased.Data
	visits          float64 // to each of its actions by which a state is known
	escape, exploit modelbased.Known
	tried           []float64 // scratch
}

// Start implements modelbased.Construction.
func (m *e3Model) Start(x *modelbased.Experience) {
	m.Data.Start(x)
	m.escape.Start(x)
	m.exploit.Start(x)
	clear(m.exploit.States)
	m.tried = make([]float64, x.Task.Actions)
}

// Observe implements modelbased.Observer. It reports whether a state became known.
func (m *e3Model) Observe(float64, int) bool {
	s := m.State
	if m.exploit.States[s] {
		return false
	}
	for a := range m.tried {
		if m.Counts.N(s, a) < m.visits {
			return false
		}
	}
	m.exploit.States[s] = true
	return true
}

// wander returns the action taken least often in s, if s is not known.
func (m *e3Model) wander(s int) (int, bool) {
	if m.exploit.States[s] {
		return 0, false
	}
	for a := range m.tried {
		m.tried[a] = -m.Counts.N(s, a)
	}
	return argmax.Any(m.tried, m.Rand), true
}

// leaves returns the probability that a known pair leads to an unknown state.
func (m *e3Model) leaves(s, a int) float64 {
	next, count := m.Counts.Row(s, a)
	n := 0.0
	for k, u := range next {
		if !m.exploit.States[u] && !m.Terminals.Is[u] {
			n += count[k]
		}
	}
	return n / m.Counts.N(s, a)
}

// e3Planner holds, for the steps of a horizon, the policy that escapes or the one that
// exploits.
type e3Planner struct {
	threshold       float64
	horizon         int
	escape, exploit modelbased.Solver
	exploring       bool
}

// Start implements modelbased.Planner.
func (p *e3Planner) Start(x *modelbased.Experience) {
	p.escape.Start(x)
	p.exploit.Start(x)
}

// Plan implements modelbased.Planner.
func (p *e3Planner) Plan(s int) {
	p.escape.Plan(s)
	p.exploit.Plan(s)
}

// Action implements modelbased.Planner.
func (p *e3Planner) Action(s, left int) int {
	if left == p.horizon {
		p.exploring = p.escape.Value[left][s] >= p.threshold
	}
	if p.exploring {
		return p.escape.Action(s, left)
	}
	return p.exploit.Action(s, left)
}

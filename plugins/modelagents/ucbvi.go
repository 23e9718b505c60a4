package modelagents

import (
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// bonusParams are the parameters of agents that plan with the expected model and
// a bonus for what is uncertain.
type bonusParams struct {
	Horizon int     `json:"horizon" jsonschema:"minimum=1" jsonschema_description:"H, steps to plan for, with a policy that depends on the steps left: the length of an episode. If an episode is longer, or never ends, the agent plans again after each H steps. Default: the length for RiverSwim in Osband's TabulaRL."`
	Scaling float64 `json:"scaling" jsonschema:"minimum=0" jsonschema_description:"Factor of every bonus; default of TabulaRL. Smaller values explore less than the theory requires, and are often better."`
	Epsilon float64 `json:"epsilon" jsonschema:"minimum=0,maximum=1" jsonschema_description:"Probability of a uniformly random action; default of TabulaRL. With scaling 0 and 0.1 here, this is TabulaRL's ε-greedy."`
	Alpha   float64 `json:"alpha" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Prior Dirichlet parameter of each successor; default of TabulaRL."`
	Mu0     float64 `json:"mu0" jsonschema_description:"Prior mean of a mean reward; default of TabulaRL."`
	Tau0    float64 `json:"tau0" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Prior precision of a mean reward; default of TabulaRL."`
	Tau     float64 `json:"tau" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Precision of rewards around their mean, assumed known; default of TabulaRL. Larger rewards need a smaller value."`
	// IgnoreLast is for the comparison with TabulaRL.
	IgnoreLast bool `json:"ignore_last" jsonschema_description:"From the last step of a truncated episode, learn only the reward and not the successor, as TabulaRL does. By default the agent learns from it as from any other step, a choice of ours."`
}

func defaultBonus() bonusParams {
	return bonusParams{Horizon: 20, Scaling: 1, Alpha: 1, Tau0: 1, Tau: 1}
}

// checkHorizon bounds the size of a plan that depends on the steps left.
func checkHorizon(horizon int, t finite.Task) error {
	if horizon > finite.MaxPairs/t.States/t.Actions {
		return lanes.Unsupported("a plan of %d steps for the %d states and %d actions of %s is too large", horizon, t.States, t.Actions, t.Spec.ID)
	}
	return nil
}

// UCBVI returns upper confidence bound value iteration (Azar, Osband & Munos 2017)
// as a plugin, in the simplified form of Osband's TabulaRL. At the start of episode
// k it does backward induction on the expected model. There (s,a) with h steps to
// go is paid a bonus of c(n_r) + (h−1) c(n_p), with c(n) = scaling √(2 ln(2+k)/n).
// n_r is the precision of the mean reward, and n_p the sum of the Dirichlet
// parameters. The bonuses suit rewards in [0,1]. It makes the same assumptions
// about the task as PSRL.
func UCBVI() vector.Plugin {
	return bonusPlugin("rlrun/ucbvi@1",
		"UCBVI (Azar, Osband & Munos 2017) as simplified in TabulaRL: the best policy of the expected model with upper confidence bonuses.",
		func(k float64, _ *rand.Rand) float64 { return math.Sqrt(2 * math.Log(2+k)) })
}

// GaussianPSRL returns the Gaussian approximation of posterior sampling of Osband's
// TabulaRL (Osband & Van Roy 2017) as a plugin. It is UCBVI with c(n) = scaling w/√n,
// where w is a standard normal variate, drawn anew for every bonus and episode.
func GaussianPSRL() vector.Plugin {
	return bonusPlugin("rlrun/gaussian-psrl@1",
		"Gaussian PSRL (Osband & Van Roy 2017) as in TabulaRL: the best policy of the expected model with normal noise on the values of pairs.",
		func(_ float64, rng *rand.Rand) float64 { return rng.NormFloat64() })
}

// bonusPlugin returns an agent whose bonus is scaling/√n times factor, given the
// number of the episode, from 1.
func bonusPlugin(id, doc string, factor func(k float64, rng *rand.Rand) float64) vector.Plugin {
	return modelbased.Plugin(id, doc, defaultBonus(), func(p bonusParams, t finite.Task) (func() modelbased.Design, error) {
		return func() modelbased.Design {
			m := &bonusModel{p: &p, factor: factor, prior: normalReward{p.Mu0, p.Tau0, p.Tau}, pairs: make([]bonusPair, t.States*t.Actions)}
			return modelbased.Design{
				Construction: m,
				Planner:      &modelbased.Induction{Model: m, Horizon: p.Horizon},
				Trigger:      modelbased.Trigger{Episode: true, Horizon: p.Horizon},
				Criterion:    modelbased.Criterion{Horizon: p.Horizon},
				Epsilon:      p.Epsilon, IgnoreLast: p.IgnoreLast,
			}
		}, checkHorizon(p.Horizon, t)
	})
}

// bonusModel is the expected model with bonuses.
type bonusModel struct {
	modelbased.Unobserved
	p      *bonusParams
	factor func(k float64, rng *rand.Rand) float64
	prior  normalReward
	x      *modelbased.Experience `snapshot:"-"`
	plans  float64                // made in this run
	pairs  []bonusPair
	left   float64 // steps to go of the present sweep
	unseen float64 // its α Σ_u V(u)
}

type bonusPair struct {
	seen            mdp.Moments // of rewards, without M2
	reward, perStep float64     // of the present plan: the mean reward + c(n_r), and c(n_p)
	total           float64     // n_p = αS + N(s,a)
}

// Start implements modelbased.Construction.
func (m *bonusModel) Start(x *modelbased.Experience) {
	m.x, m.plans = x, 0
	clear(m.pairs)
}

// Observe implements modelbased.Observer.
func (m *bonusModel) Observe(r float64, _ int) bool {
	seen := &m.pairs[m.x.Pair()].seen
	seen.N++
	seen.Mean += (r - seen.Mean) / seen.N
	return false
}

// Refresh implements modelbased.Backups.
func (m *bonusModel) Refresh() {
	m.plans++
	for i := range m.pairs {
		pair, s, a := &m.pairs[i], i/m.x.Task.Actions, i%m.x.Task.Actions
		pair.total = m.p.Alpha*float64(m.x.Task.States) + m.x.Counts.N(s, a)
		pair.reward = m.prior.Mean(pair.seen) + m.p.Scaling*m.factor(m.plans, m.x.Rand)/math.Sqrt(m.p.Tau0+m.p.Tau*pair.seen.N)
		pair.perStep = m.p.Scaling * m.factor(m.plans, m.x.Rand) / math.Sqrt(pair.total)
	}
}

// Sweep implements modelbased.Backups.
func (m *bonusModel) Sweep(value []float64, left int) {
	sum := 0.0
	for _, v := range value {
		sum += v
	}
	m.left, m.unseen = float64(left), m.p.Alpha*sum
}

// Backup implements modelbased.Backups. The expected value of a successor is
// (α Σ_u V(u) + Σ_u N(s,a,u) V(u))/(αS + N(s,a)), so that a backup takes as long as
// there are successors seen.
func (m *bonusModel) Backup(q []float64, s int, value []float64) {
	x, later, unseen, pairs := m.x, m.left-1, m.unseen, m.pairs[s*len(q):][:len(q)]
	for a := range q {
		pair := &pairs[a]
		q[a] = pair.reward + later*pair.perStep + x.Sum(unseen, s, a, value)/pair.total
	}
}

package modelagents

import (
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// bonusParams are the parameters of agents that plan with the expected model and
// a bonus for what is uncertain.
type bonusParams struct {
	Horizon int     `json:"horizon" jsonschema:"minimum=1" jsonschema_description:"H, steps to plan for, with a policy that depends on the steps left: the length of an episode. If an episode is longer, or never ends, the agent plans again after each H steps. Default: the length for RiverSwim in Osband's TabulaRL."`
	Scaling float64 `json:"scaling" jsonschema:"minimum=0" jsonschema_description:"Factor of every bonus; default of TabulaRL. Smaller values explore less than the theory requires, and are often better."`
	Epsilon float64 `json:"epsilon" jsonschema:"minimum=0,maximum=1" jsonschema_description:"Probability of a uniformly random action; default of TabulaRL. With scaling 0 and 0.1 here, this is TabulaRL's ε-greedy."`
	Prior
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
		func(k float64) float64 { return math.Sqrt(2 * math.Log(2+k)) }, nil)
}

// GaussianPSRL returns the Gaussian approximation of posterior sampling of Osband's
// TabulaRL (Osband & Van Roy 2017) as a plugin. It is UCBVI with c(n) = scaling w/√n,
// where w is a standard normal variate, drawn anew for every bonus and episode.
func GaussianPSRL() vector.Plugin {
	return bonusPlugin("rlrun/gaussian-psrl@1",
		"Gaussian PSRL (Osband & Van Roy 2017) as in TabulaRL: the best policy of the expected model with normal noise on the values of pairs.",
		nil, (*rand.Rand).NormFloat64)
}

// bonusPlugin returns an agent whose bonus is scaling/√n times a factor: of the number of the
// episode, from 1, or drawn for every bonus.
func bonusPlugin(id, doc string, factor func(k float64) float64, draw func(rng *rand.Rand) float64) vector.Plugin {
	defaults := bonusParams{Horizon: 20, Scaling: 1, Prior: Prior{Alpha: 1, Tau0: 1, Tau: 1}}
	return modelbased.Plugin(id, doc, defaults, func(p bonusParams, t finite.Task) (func() modelbased.Design, error) {
		return func() modelbased.Design {
			d := modelbased.Episodic(&bonusModel{p: &p, factor: factor, draw: draw, pairs: make([]bonusPair, t.States*t.Actions)}, p.Horizon)
			d.Epsilon, d.IgnoreLast = p.Epsilon, p.IgnoreLast
			return d
		}, finite.CheckHorizon(p.Horizon, t)
	})
}

// bonusModel is the expected model with bonuses.
type bonusModel struct {
	modelbased.Data
	p      *bonusParams
	factor func(k float64) float64 // nil if factors are drawn
	draw   func(rng *rand.Rand) float64
	pairs  []bonusPair
	fresh  bonusPair // one that was never tried, unless factors are drawn
	value  float64   // of it in the present sweep
	left   float64   // steps to go of the present sweep
	unseen float64   // its α Σ_u V(u)
}

// bonusPair has what the present plan says of a pair.
type bonusPair struct {
	reward, perStep float64 // the mean reward + c(n_r), and c(n_p)
	total           float64 // n_p = αS + N(s,a)
	fresh           bool    // it is as bonusModel.fresh
}

// Refresh implements modelbased.Backups. Pairs never tried are alike, unless factors are drawn.
func (m *bonusModel) Refresh() {
	prior, factor := m.p.rewards(), 0.0
	if m.factor != nil {
		factor = m.p.Scaling * m.factor(float64(m.Plans))
	}
	bonus := func(n float64) float64 {
		if m.draw != nil {
			factor = m.p.Scaling * m.draw(m.Rand)
		}
		return factor / math.Sqrt(n)
	}
	about := func(n float64, seen mdp.Moments) bonusPair {
		total := m.p.Alpha*float64(m.Task.States) + n
		return bonusPair{prior.Mean(seen) + bonus(m.p.Tau0+m.p.Tau*seen.N), bonus(total), total, n == 0 && seen.N == 0 && m.draw == nil}
	}
	if m.draw == nil {
		m.fresh = about(0, mdp.Moments{})
	}
	for i := range m.pairs {
		s, a := i/m.Task.Actions, i%m.Task.Actions
		n, seen := m.Counts.N(s, a), m.Counts.Rewards(s, a)
		if m.pairs[i] = m.fresh; !m.fresh.fresh || n > 0 || seen.N > 0 {
			m.pairs[i] = about(n, seen)
		}
	}
}

// Sweep implements modelbased.Backups.
func (m *bonusModel) Sweep(value []float64, left int) {
	sum := 0.0
	for _, v := range value {
		sum += v
	}
	m.left, m.unseen = float64(left), m.p.Alpha*sum
	m.value = m.fresh.reward + (m.left-1)*m.fresh.perStep + m.unseen/m.fresh.total
}

// Backup implements modelbased.Backups. The expected value of a successor is
// (α Σ_u V(u) + Σ_u N(s,a,u) V(u))/(αS + N(s,a)), so that a backup takes as long as
// there are successors seen.
func (m *bonusModel) Backup(q []float64, s int, value []float64) {
	later, unseen, pairs := m.left-1, m.unseen, m.pairs[s*len(q):][:len(q)]
	for a := range q {
		pair := &pairs[a]
		if q[a] = m.value; !pair.fresh {
			q[a] = pair.reward + later*pair.perStep + m.Sum(unseen, s, a, value)/pair.total
		}
	}
}

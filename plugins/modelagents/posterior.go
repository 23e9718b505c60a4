package modelagents

import (
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// posterior is a belief over models, from which samples are drawn: independent
// Dirichlet rows and mean rewards.
type posterior struct {
	modelbased.Data
	prior   *Prior
	merge   bool // several samples make one model
	belief  *mdp.Dirichlet
	samples []*mdp.Tabular `snapshot:"-"` // the last ones, whose memory is used again
	marked  []*mdp.Tabular `snapshot:"-"` // the same, with terminal states
}

// Start implements modelbased.Construction.
func (m *posterior) Start(x *modelbased.Experience) {
	d, err := mdp.NewDirichlet(mdp.DirichletPrior{States: x.Task.States, Actions: x.Task.Actions, Alpha: m.prior.Alpha, Rewards: m.prior.rewards()})
	if err != nil {
		panic("modelagents: a prior that was not checked")
	}
	m.belief = d
	x.Counts = d.Counts
	m.Data.Start(x)
}

// Models implements modelbased.Models: it draws samples.
func (m *posterior) Models() []mdp.Model {
	models := make([]mdp.Model, len(m.samples))
	for k := range m.samples {
		m.samples[k] = m.belief.SampleInto(m.samples[k], m.Rand)
		models[k] = m.Terminals.Mark(&m.marked[k], m.samples[k])
	}
	if m.merge && len(models) > 1 {
		return []mdp.Model{merged(models)}
	}
	return models
}

// merged are models of one task as one, in which action a+kA is action a as model
// k has it.
type merged []mdp.Model

// NumStates implements mdp.Model.
func (m merged) NumStates() int { return m[0].NumStates() }

// NumActions implements mdp.Model.
func (m merged) NumActions() int { return len(m) * m[0].NumActions() }

// Transition implements mdp.Model.
func (m merged) Transition(s, a int) ([]int32, []float64) {
	n := m[0].NumActions()
	return m[a/n].Transition(s, a%n)
}

// Reward implements mdp.Model.
func (m merged) Reward(s, a int) float64 {
	n := m[0].NumActions()
	return m[a/n].Reward(s, a%n)
}

// normalReward is the prior N(mu0, 1/tau0) of the mean of normal rewards with
// precision tau (DeGroot 1970, §9.5): an mdp.RewardPrior.
type normalReward struct{ mu0, tau0, tau float64 }

func (p normalReward) Mean(x mdp.Moments) float64 {
	return (p.tau0*p.mu0 + p.tau*x.N*x.Mean) / (p.tau0 + p.tau*x.N)
}

func (p normalReward) Sample(x mdp.Moments, rng *rand.Rand) float64 {
	return p.Mean(x) + rng.NormFloat64()/math.Sqrt(p.tau0+p.tau*x.N)
}

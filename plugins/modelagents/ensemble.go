package modelagents

import (
	"fmt"

	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// ensemble is several models of a task: an online bootstrap, or draws of a posterior.
type ensemble struct {
	modelbased.Data
	prior   mdp.DirichletPrior
	members int
	weight  float64 // of a member's prior, in steps of every pair
	mask    mdp.Mask
	draws   []*mdp.Tabular // memory for draws of the posterior; nil for a bootstrap
	mean    bool           // the mean model is followed, not a member
	restart bool           // the next episode follows without a gap

	belief    belief
	posterior *mdp.Dirichlet // the belief, or nil
	bootstrap *mdp.Bootstrap // the belief, or nil
	memory    []*mdp.Tabular // for models with terminal states: of the members and the mean
}

// belief is what the two kinds have in common.
type belief interface {
	Update(s, a int, r float64, next int)
	LatestMean() *mdp.Tabular
}

// Start implements modelbased.Construction.
func (m *ensemble) Start(x *modelbased.Experience) {
	m.Data.Start(x)
	prior, err := mdp.NewDirichlet(m.prior)
	m.posterior, m.belief = prior, prior
	if err == nil && m.draws == nil {
		m.bootstrap, err = mdp.NewBootstrap(prior, m.members, m.weight, m.mask, x.Seed^uint64(seed.Bootstrap))
		m.posterior, m.belief = nil, m.bootstrap
	}
	if err != nil {
		panic(fmt.Sprintf("modelagents: parameters that were not checked: %v", err))
	}
}

// Observe implements modelbased.Observer.
func (m *ensemble) Observe(r float64, next int) bool {
	m.belief.Update(m.State, m.Action, r, next)
	return false
}

// Models implements modelbased.Models: the mean model, or a member at random.
func (m *ensemble) Models() []mdp.Model {
	t, err := (*mdp.Tabular)(nil), error(nil)
	switch {
	case m.mean:
		t, err = m.Mean()
	case m.bootstrap != nil:
		t, err = m.Member(m.Rand.IntN(m.members))
	default:
		t, err = m.Member(0)
	}
	if err != nil {
		return nil
	}
	return []mdp.Model{t}
}

// Len implements modelbased.Ensemble.
func (m *ensemble) Len() int { return m.members }

// Member implements modelbased.Ensemble.
func (m *ensemble) Member(k int) (*mdp.Tabular, error) {
	if m.bootstrap != nil {
		return m.complete(k, m.bootstrap.Latest(k))
	}
	m.draws[k] = m.posterior.SampleInto(m.draws[k], m.Rand)
	return m.complete(k, m.draws[k])
}

// Mean implements modelbased.Ensemble.
func (m *ensemble) Mean() (*mdp.Tabular, error) {
	return m.complete(m.members, m.belief.LatestMean())
}

// complete returns a model with the terminal states that have been found, in memory
// number k.
func (m *ensemble) complete(k int, t *mdp.Tabular) (*mdp.Tabular, error) {
	if m.restart {
		return m.Restarting(t)
	}
	return m.Terminals.Mark(&m.memory[k], t), nil
}

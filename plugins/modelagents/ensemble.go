package modelagents

import (
	"fmt"

	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// ensemble is several models of a task: an online bootstrap, or draws of a posterior.
type ensemble struct {
	modelbased.Unobserved
	prior   mdp.DirichletPrior
	members int
	weight  float64 // of a member's prior, in steps of every pair
	mask    mdp.Mask
	draws   []*mdp.Tabular // memory for draws of the posterior; nil for a bootstrap
	mean    bool           // the mean model is followed, not a member
	restart bool           // the next episode follows without a gap

	x         *modelbased.Experience `snapshot:"-"`
	posterior *mdp.Dirichlet         // or nil
	bootstrap *mdp.Bootstrap         // or nil
	first     []float64              // how often episodes began in each state
	memory    []*mdp.Tabular         // for models with terminal states: of the members and the mean
}

// Start implements modelbased.Construction.
func (m *ensemble) Start(x *modelbased.Experience) {
	prior, err := mdp.NewDirichlet(m.prior)
	if err == nil {
		m.posterior = prior
		if m.draws == nil {
			m.posterior = nil
			m.bootstrap, err = mdp.NewBootstrap(prior, m.members, m.weight, m.mask, x.Seed^uint64(seed.Bootstrap))
		}
	}
	if err != nil {
		panic(fmt.Sprintf("modelagents: parameters that were not checked: %v", err))
	}
	m.x = x
	clear(m.first)
}

// BeginEpisode implements modelbased.Observer.
func (m *ensemble) BeginEpisode(s int) { m.first[s]++ }

// Observe implements modelbased.Observer.
func (m *ensemble) Observe(r float64, next int) bool {
	if m.bootstrap != nil {
		m.bootstrap.Update(m.x.State, m.x.Action, r, next)
	} else {
		m.posterior.Update(m.x.State, m.x.Action, r, next)
	}
	return false
}

// Models implements modelbased.Models: the mean model, or a member at random.
func (m *ensemble) Models() []mdp.Model {
	t, err := (*mdp.Tabular)(nil), error(nil)
	switch {
	case m.mean:
		t, err = m.Mean()
	case m.bootstrap != nil:
		t, err = m.Member(m.x.Rand.IntN(m.members))
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
	m.draws[k] = m.posterior.SampleInto(m.draws[k], m.x.Rand)
	return m.complete(k, m.draws[k])
}

// Mean implements modelbased.Ensemble.
func (m *ensemble) Mean() (*mdp.Tabular, error) {
	if m.bootstrap != nil {
		return m.complete(m.members, m.bootstrap.LatestMean())
	}
	return m.complete(m.members, m.posterior.LatestMean())
}

// complete returns a model with the terminal states that have been found, in memory
// number k.
func (m *ensemble) complete(k int, t *mdp.Tabular) (*mdp.Tabular, error) {
	terminal := m.x.Terminals.Is
	if m.x.Terminals.Len() == 0 {
		return t, nil
	}
	if !m.restart {
		m.memory[k] = t.Terminating(m.memory[k], terminal)
		return m.memory[k], nil
	}
	d := mdp.Definition{States: t.NumStates(), Actions: t.NumActions()}
	starts := 0.0
	for s, end := range terminal {
		if end {
			d.Terminal = append(d.Terminal, s)
		} else {
			starts += m.first[s]
		}
	}
	for s, n := range m.first {
		if n > 0 && !terminal[s] {
			d.Initial = append(d.Initial, mdp.Weight{S: s, P: n / starts})
		}
	}
	t, err := mdp.Generate(d, func(s, a int, row *mdp.Row) {
		if terminal[s] {
			return
		}
		next, prob := t.Transition(s, a)
		for i, u := range next {
			row.Add(int(u), prob[i])
		}
		row.Reward(t.Reward(s, a))
	})
	if err != nil {
		return nil, err
	}
	return t.Restarting()
}

package modelagents

import (
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// newCounts returns empty counts of a task, which has states and actions.
func newCounts(states, actions int) *mdp.Counts {
	c, err := mdp.NewCounts(states, actions)
	if err != nil {
		panic("modelagents: a task without states or actions") // which spaces exclude
	}
	return c
}

// maxSuccessors bounds S²A, for agents whose models let every pair lead anywhere.
const maxSuccessors = 1 << 24

func checkSuccessors(t finite.Task) error {
	if t.States > maxSuccessors/t.States/t.Actions {
		return lanes.Unsupported("%s has %d states and %d actions, too many for models in which all leads anywhere", t.Spec.ID, t.States, t.Actions)
	}
	return nil
}

// checkPrior validates the parameters of newBelief.
func checkPrior(alpha, tau0, tau float64) error {
	for _, x := range []struct {
		name  string
		value float64
	}{{"alpha", alpha}, {"tau0", tau0}, {"tau", tau}} {
		if !(x.value > 0) || math.IsInf(x.value, 0) {
			return lanes.Invalid("%s is %v, must be positive", x.name, x.value)
		}
	}
	return nil
}

// newBelief returns independent Dirichlet rows with parameter alpha for each
// successor, and mean rewards with the given prior.
func newBelief(t finite.Task, alpha float64, rewards normalReward) *mdp.Dirichlet {
	d, err := mdp.NewDirichlet(mdp.DirichletPrior{States: t.States, Actions: t.Actions, Alpha: alpha, Rewards: rewards})
	if err != nil {
		panic("modelagents: a prior that was not checked")
	}
	return d
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

// endings are the states in which an episode ended and in which no action was
// taken since: they are taken for terminal, worth nothing.
type endings struct {
	terminal []bool
	ends     int // how many
}

func newEndings(states int) endings { return endings{terminal: make([]bool, states)} }

func (e *endings) forget() {
	clear(e.terminal)
	e.ends = 0
}

// mark takes in that an episode ended in s, and unmark that an action is to be taken
// there. Both report whether that is news.
func (e *endings) mark(s int) bool {
	if e.terminal[s] {
		return false
	}
	e.terminal[s] = true
	e.ends++
	return true
}

func (e *endings) unmark(s int) bool {
	if !e.terminal[s] {
		return false
	}
	e.terminal[s] = false
	e.ends--
	return true
}

package modelbased

import (
	"math"
	"slices"

	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/internal/argmax"
)

// Models is a Construction of models that can be solved.
type Models interface {
	Construction
	// Models returns the models of a plan in state s. The model with the largest
	// value there is followed. Action a of a model is the task's action a mod A.
	Models() []mdp.Model
}

// Lookahead computes values of actions from values of states.
type Lookahead interface {
	// Lookahead writes r(s,a) + discount Σ_u p(u|s,a) value(u) into q, for all a.
	Lookahead(q []float64, s int, discount float64, value []float64)
}

// Criterion is what a plan is best for: the reward of the steps left if there is a
// Horizon, else the reward per step if Average, else the return discounted by Gamma.
type Criterion struct {
	Horizon int
	Average bool
	Gamma   float64
}

// Solver is a Planner that solves models exactly. The arguments on which solvers fail
// must be excluded. Where one stops early, the best policy so far is followed.
type Solver struct {
	Models Models
	Criterion
	Method mdp.Method // of discounted models
	// Lookahead chooses actions by their values after each step, ties at random, if it
	// is not nil. By default the solution's policy is followed.
	Lookahead Lookahead

	Policy []mdp.Deterministic // by steps to go, or one
	Value  [][]float64         // by steps to go from 0 on, or of the one policy

	x       *Experience `snapshot:"-"`
	average mdp.AverageSolver
	finite  *mdp.FiniteSolver `snapshot:"-"` // of the next plan
	kept    *mdp.FiniteSolver // of the present one, whose memory that is
	q       []float64
}

// Start implements Planner.
func (p *Solver) Start(x *Experience) {
	if p.x == nil {
		p.x, p.q = x, make([]float64, x.Task.Actions)
		p.finite, p.kept = new(mdp.FiniteSolver), new(mdp.FiniteSolver)
	}
	p.average, p.Policy, p.Value = mdp.AverageSolver{}, nil, nil
}

// Plan implements Planner.
func (p *Solver) Plan(s int) {
	best := math.Inf(-1)
	for _, m := range p.Models.Models() {
		best = p.Solve(m, s, best)
	}
}

// Solve solves a model and, if its value in state s is above best, makes that the plan.
// It returns the larger of the two.
func (p *Solver) Solve(m mdp.Model, s int, best float64) float64 {
	switch {
	case p.Horizon > 0:
		if sol, err := p.finite.Solve(m, p.Horizon); err == nil && sol.Value[p.Horizon][s] > best {
			p.Policy, p.Value, best = sol.Policy, sol.Value, sol.Value[p.Horizon][s]
			p.finite, p.kept = p.kept, p.finite
		}
	case p.Average:
		if sol, _ := p.average.Solve(m, mdp.Options{Method: mdp.PolicyIteration}); sol != nil && sol.Gain[s] > best {
			p.Policy, best = []mdp.Deterministic{slices.Clone(sol.Policy)}, sol.Gain[s]
		}
	default:
		o := mdp.Options{Method: p.Method}
		if p.Policy != nil {
			o.Policy, o.Value = p.Policy[0], p.Value[0]
		}
		if sol, _ := mdp.SolveDiscounted(m, p.Gamma, o); sol != nil && sol.Value[s] > best {
			p.Policy, p.Value, best = []mdp.Deterministic{sol.Policy}, [][]float64{sol.Value}, sol.Value[s]
		}
	}
	return best
}

// Action implements Planner.
func (p *Solver) Action(s, left int) int {
	if p.Lookahead == nil {
		a := p.Policy[left][s]
		if n := len(p.q); a >= n {
			a %= n
		}
		return a
	}
	value, discount := p.Value[0], p.Gamma
	if left > 0 {
		value, discount = p.Value[left-1], 1
	}
	p.Lookahead.Lookahead(p.q, s, discount, value)
	return argmax.Any(p.q, p.x.Rand)
}

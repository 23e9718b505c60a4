package modelbased

import (
	"math"
	"slices"

	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/options"
	"github.com/rlrun/rlrun/plugins/internal/argmax"
)

// Models is a Construction of models that can be solved.
type Models interface {
	Construction
	// Models returns the models of a plan in state s. The model with the largest
	// value there is followed. Action a of a model is the task's action a mod A.
	Models() []mdp.Model
}

// Criterion is what a plan maximises: the reward of the steps left if there is a
// Horizon, else the reward per step if Average, else the return discounted by Gamma.
type Criterion struct {
	Horizon int     // in steps; 0: none
	Average bool    // without a Horizon
	Gamma   float64 // discount in [0,1), used if there is neither
}

// Solver is a Planner that solves models exactly. The arguments on which solvers fail
// must be excluded. Where one stops early, the best policy so far is followed.
type Solver struct {
	Models Models // the models to solve
	Criterion
	Method mdp.Method // algorithm; default mdp.Automatic
	// Residual is the largest error of discounted values per step in models of
	// more than options.Eliminated states, as a share of the range of a model's
	// rewards. 0 is as exact as possible.
	Residual float64
	// Lookahead chooses actions by their values in it after each step, ties at random, if
	// it is not nil. By default the solution's policy is followed.
	Lookahead *Known

	Policy []mdp.Deterministic // by steps to go, or one
	Value  [][]float64         // by steps to go from 0 on, or of the one policy

	x       *Experience `snapshot:"-"`
	warm    bool        // the next plan starts from the present one
	average mdp.AverageSolver
	rough   mdp.DiscountedSolver
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
	p.average, p.warm = mdp.AverageSolver{}, false
	p.Policy, p.Value = []mdp.Deterministic{make(mdp.Deterministic, x.Task.States)}, nil
}

// lowest is below every value.
var lowest = math.Inf(-1)

// Adopt makes a copy of a policy the plan, from which the next one starts.
func (p *Solver) Adopt(policy mdp.Deterministic) {
	copy(p.Policy[0], policy)
	p.warm = true
}

// Plan implements Planner.
func (p *Solver) Plan(s int) {
	best := lowest
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
		if sol, _ := p.average.Solve(m, mdp.SolverConfig{Method: p.Method}); sol != nil && sol.Gain[s] > best {
			p.Policy, best = []mdp.Deterministic{slices.Clone(sol.Policy)}, sol.Gain[s]
		}
	case p.Residual > 0 && m.NumStates() > options.Eliminated:
		t := m.(*mdp.Tabular)
		if p.Value == nil {
			p.Value = [][]float64{make([]float64, t.NumStates())}
		}
		p.rough.Solve(p.Value[0], p.Policy[0], t, p.Gamma, options.Residual(t, p.Residual, p.Gamma))
		return p.Value[0][s]
	default:
		o := mdp.SolverConfig{Method: p.Method}
		if p.warm {
			o.Policy = p.Policy[0]
		}
		if p.Value != nil {
			o.Value = p.Value[0]
		}
		if sol, _ := mdp.SolveDiscounted(m, p.Gamma, o); sol != nil && sol.Value[s] > best {
			p.Policy, p.Value, best = []mdp.Deterministic{sol.Policy}, [][]float64{sol.Value}, sol.Value[s]
			p.warm = true
		}
	}
	return best
}

// Action implements Planner.
func (p *Solver) Action(s, left int) int {
	left = min(left, len(p.Policy)-1) // a policy for ever
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

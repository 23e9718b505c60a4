package modelbased

import (
	"math"

	"github.com/rlrun/rlrun/mdp"
)

// Greedy actions, for evaluation: those of the best policy of what has been seen, without
// the optimism or the draws by which an agent explores. The model has the transitions and
// mean rewards seen. A pair that was never tried pays the smallest mean reward seen, and
// so does every step after it, so that it is taken only where nothing better is known.

// largestAverage is up to how many states the reward per step is maximised. In larger
// tasks the discount longDiscount is close to that.
const (
	largestAverage = 1999 // policy iteration takes 2000, one of which is Known's own
	longDiscount   = 0.999
)

// greedyPlan is the plan for evaluations.
type greedyPlan struct {
	model  Known
	solver Solver
}

// GreedyAction implements lanes.Greedy. Nothing is learned in an evaluation, so the model
// is solved once in each. With a horizon the action is the first one of a plan for so many
// steps.
func (x *Learner) GreedyAction(s int) int {
	if x.evaluation == nil {
		x.evaluation = x.planGreedily(s)
	}
	plans := x.evaluation.solver.Policy
	return plans[len(plans)-1][s]
}

// planGreedily solves the model of what has been seen.
func (x *Learner) planGreedily(s int) *greedyPlan {
	least := math.Inf(1)
	for s := range x.Task.States {
		for a := range x.Task.Actions {
			if x.Counts.N(s, a) > 0 {
				least = min(least, x.Counts.Rewards(s, a).Mean)
			}
		}
	}
	if math.IsInf(least, 0) { // nothing has been tried
		least = 0
	}
	p := &greedyPlan{model: Known{Visits: 1, Outside: least, Forever: least}}
	if least > 0 && !x.Task.Spec.Continuing {
		p.model.Forever = 0 // at worst the episode ends
	}
	p.solver = Solver{Models: &p.model, Criterion: x.Criterion}
	if x.Criterion.Average && x.Task.States > largestAverage {
		p.solver.Criterion = Criterion{Gamma: longDiscount}
	}
	if p.solver.Average {
		p.solver.Method = mdp.PolicyIteration // for any structure
	}
	p.model.Start(&x.Experience)
	p.solver.Start(&x.Experience)
	p.solver.Plan(s)
	return p
}

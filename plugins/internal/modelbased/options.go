package modelbased

import (
	"math"
	"slices"

	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/options"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// Ensemble is a Construction of several models, which learn from every step.
type Ensemble interface {
	Construction
	Observer
	// Len returns the number of members.
	Len() int
	// Member returns the model of a member, a new draw if members are draws. It is valid
	// until the next call for the same member.
	Member(k int) (*mdp.Tabular, error)
	// Mean returns the mean model, valid until the next call.
	Mean() (*mdp.Tabular, error)
}

// OptionDesign has the parts of an agent whose exploration a host may decide on. The
// planner solves the models of the ensemble.
type OptionDesign struct {
	Ensemble Ensemble // the models
	Planner  *Solver  // solves them
	Trigger  Trigger  // when to plan
	// Growth says when the greedy option, while it is followed, is solved again, as that of
	// Trigger does.
	Growth float64
	// Options has Discount, Residual, Kappa and RevealProbability of the host's problems.
	Options options.ReduceConfig
}

// OptionPlugin makes a plugin of an agent whose parameters are a P, as Plugin does.
func OptionPlugin[P any](id, doc string, defaults P, build func(p P, t finite.Task) (func() OptionDesign, error)) vector.Plugin {
	return lanes.GreedyPlugins(finite.OptionPlugin(id, doc, defaults, func(p P, t finite.Task) (func() finite.Learner, error) {
		design, err := build(p, t)
		if err != nil {
			return nil, err
		}
		return func() finite.Learner { return newOptionLearner(t, design()) }, nil
	}))[0]
}

// OptionLearner is one lane of an agent with several models: a lanes.OptionLearner. Left
// alone it follows the planner's policy. The host's problems are those of an options.Reducer.
// Their greedy option is the best policy of the present mean model.
type OptionLearner struct {
	Learner
	Visits    *options.Visits    // of pairs, in the present run
	Reduction *options.Reduction // of the last decision; nil before the first

	ensemble Ensemble
	solver   *Solver // the planner; its policy is the greedy one while that is followed
	greedy   Trigger // for the greedy option
	config   options.ReduceConfig
	reducer  *options.Reducer
	executor candidateExecutor // of another option than the greedy one
	followed followed
	within   bool // an episode goes on
	solved   bool // for the evaluation that goes on
	facing   int  // the state of the next decision
	at       int  // the state of the reduction
	offered  bool
	deviates bool           // deviations are offered, which depend on the state
	member   int            // the drawn one that is followed, −1 if none is
	drawn    int            // for the next decision
	draws    bool           // the policy of a drawn member is offered
	some     bool           // some candidates are offered in some decisions only
	most     int            // steps for which it may be held
	models   []*mdp.Tabular // of the members, of the last reduction
}

// followed is what is followed at present.
type followed int

const (
	itself   followed = iota // no host decides
	greedily                 // the greedy option
	anOption                 // another option of the last reduction
)

// newOptionLearner returns an agent for a task.
func newOptionLearner(t finite.Task, d OptionDesign) *OptionLearner {
	x := &OptionLearner{Learner: *New(t, Design{Construction: d.Ensemble, Planner: d.Planner, Trigger: d.Trigger}),
		ensemble: d.Ensemble, solver: d.Planner, greedy: Trigger{Growth: d.Growth}, config: d.Options}
	x.Experience.init(t) // whose random numbers are at an address of their own
	x.executor = candidateExecutor{rng: x.Rand, scratch: make([]float64, t.Actions)}
	return x
}

// Start implements finite.Learner.
func (x *OptionLearner) Start(seed uint64) {
	x.Learner.Start(seed)
	x.greedy.start(x.Task.States * x.Task.Actions)
	visits, err := options.NewVisits(x.Task.States, x.Task.Actions)
	if err != nil {
		panic("modelbased: a task without states or actions") // which spaces exclude
	}
	x.Visits = visits
	x.reducer, x.Reduction = new(options.Reducer), nil
	x.followed, x.within, x.solved = itself, false, false
}

// Begin implements finite.Learner.
func (x *OptionLearner) Begin(s int) int {
	if x.solved { // after an evaluation the planner has another policy
		x.solved, x.Trigger.due = false, true
	}
	x.Trigger.begin()
	return x.Act(s)
}

// Step implements finite.Learner.
func (x *OptionLearner) Step(r float64, next int) int {
	x.learn(r, next)
	return x.Act(next)
}

// End implements finite.Learner.
func (x *OptionLearner) End(r float64, next int, terminated bool) {
	x.learn(r, next)
	x.within = false
	if terminated {
		x.Terminals.Add(next)
	}
}

// SetObservation implements lanes.OptionLearner.
func (x *OptionLearner) SetObservation(s int) { x.facing = s }

// Learn implements lanes.OptionLearner.
func (x *OptionLearner) Learn(r float64, next int) {
	x.learn(r, next)
	x.facing = next
}

func (x *OptionLearner) learn(r float64, next int) {
	if x.ensemble.Observe(r, next) {
		x.Trigger.due = true
	}
	x.Visits.Update(x.State, x.Action) // in place of the counts of the experience
	n := float64(x.Visits.Count(x.State, x.Action))
	x.Trigger.visited(x.State, x.Pair(), n)
	x.greedy.visited(x.State, x.Pair(), n)
	if x.followed == anOption {
		x.executor.advance(next)
	}
}

// arrive records that an action is to be taken in s.
func (x *OptionLearner) arrive(s int) {
	x.Terminals.Remove(s)
	if !x.within {
		x.begin(s)
	}
	x.within = true
}

// Act implements finite.Learner.
func (x *OptionLearner) Act(s int) int {
	x.arrive(s)
	x.State = s
	switch {
	case x.followed == anOption:
		if x.member >= 0 && x.greedy.due {
			x.learnMember(s)
			x.greedy.planned()
		}
		x.Action = x.executor.action(s)
		return x.Action
	case x.followed == itself && x.Trigger.due:
		x.plan(s)
		x.greedy.planned()
	case x.followed == greedily && x.greedy.due:
		x.solveMean(s)
		x.greedy.planned()
	}
	x.Action = x.solver.Action(s, 0)
	return x.Action
}

// learnMember goes on with the best policy of the member that is followed, as it is now: if
// the member is right, it is no worse, and if it is wrong, it is given up sooner
// (docs/theory.md §3.2). If there is none, the policy stays what it was.
func (x *OptionLearner) learnMember(s int) {
	m, err := x.ensemble.Member(x.member)
	if err != nil {
		return
	}
	c := x.config
	c.State = s
	if pi, err := x.reducer.Policy(m, x.member, c); err == nil {
		x.executor.policy = pi
	}
}

// solveMean makes the best policy of the mean model the plan. If there is no mean model,
// the plan stays what it was.
func (x *OptionLearner) solveMean(s int) {
	if m, err := x.ensemble.Mean(); err == nil {
		x.solver.Solve(m, s, lowest)
	}
}

// SetOptionKinds implements lanes.OptionLearner.
func (x *OptionLearner) SetOptionKinds(kinds []options.Kind) error {
	if err := options.CheckKinds(kinds); err != nil {
		return lanes.Unsupported("%v", err)
	}
	if slices.Contains(kinds, options.Pairs) {
		return lanes.Unsupported("it values policies, not single pairs: options of kind %s need another agent", options.Pairs)
	}
	x.config.Kinds, x.offered, x.deviates = kinds, true, slices.Contains(kinds, options.Deviations)
	x.draws, x.most = slices.Contains(kinds, options.DrawnMember), mostHeld
	declared := slices.Contains(kinds, options.Declared)
	x.some = x.draws || declared
	if declared && (x.config.Discount == 0 || x.Task.States > mostDeclared) {
		return lanes.Unsupported("options of files and plugins need criterion discounted and at most %d states", mostDeclared)
	}
	if x.config.Discount > 0 {
		x.most = min(int(math.Ceil(2/(1-x.config.Discount))), mostHeld)
	}
	return nil
}

// mostDeclared bounds the number of states where models of declared options are made, which
// are matrices.
const mostDeclared = 1000

// Declare implements lanes.Declarer.
func (x *OptionLearner) Declare(list []options.DeclaredOption) error {
	x.config.Declared, x.Reduction = list, nil
	return nil
}

// DescribeDecision implements lanes.OptionLearner. Between plans it describes the problem
// of the last one.
func (x *OptionLearner) DescribeDecision(p *options.Problem) error {
	if !x.offered {
		return lanes.Unsupported("no options have been offered")
	}
	x.arrive(x.facing)
	if x.Trigger.due || x.Reduction == nil || x.deviates && x.at != x.facing {
		if err := x.reduce(x.facing); err != nil && x.Reduction == nil {
			return err
		}
	}
	if !x.some {
		x.Reduction.At(p, x.facing)
		return nil
	}
	k := 0
	if x.draws {
		k = x.Rand.IntN(x.ensemble.Len())
	}
	x.drawn = k
	x.Reduction.AtMember(p, x.facing, k)
	if !x.draws {
		return nil
	}
	y, at := x.Reduction.Values(0, x.facing), x.Reduction.OfMember(k)
	for i := range p.Arms {
		if x.Reduction.Offered(i) == at && at > 0 {
			v := x.Reduction.Values(at, x.facing)[k]
			p.Arms[i].Steps = options.Shows(x.models[k], x.Reduction.Candidates[at].Policy.(mdp.Deterministic), x.facing, y[k], v, x.most)
		}
	}
	return nil
}

// mostHeld is the largest number of steps for which a drawn member asks to be held.
const mostHeld = 1000

// reduce makes the bandit over options of the present belief. If it fails, that of
// before remains.
func (x *OptionLearner) reduce(s int) error {
	members := make([]*mdp.Tabular, x.ensemble.Len())
	for k := range members {
		var err error
		if members[k], err = x.ensemble.Member(k); err != nil {
			return err
		}
	}
	c := x.config
	c.State, c.Visits = s, x.Visits
	var err error
	if c.Mean, err = x.ensemble.Mean(); err != nil {
		return err
	}
	red, err := x.reducer.Reduce(members, c)
	if err != nil {
		return err
	}
	x.Reduction, x.at, x.models = red, s, members
	x.solver.Adopt(red.Candidates[0].Policy.(mdp.Deterministic))
	x.Trigger.planned()
	x.greedy.planned()
	return nil
}

// Choose implements lanes.OptionLearner.
func (x *OptionLearner) Choose(option int) int {
	x.followed = greedily
	x.member = -1
	if x.some {
		option = x.Reduction.Offered(option)
		if x.draws && option > 0 && option == x.Reduction.OfMember(x.drawn) {
			x.member = x.drawn
		}
	}
	if option > 0 {
		x.followed = anOption
		x.executor.follow(x.Reduction.Candidates[option], x.facing)
	}
	return x.Act(x.facing)
}

// GreedyPolicy implements lanes.OptionLearner. Before the first plan it is action 0.
func (x *OptionLearner) GreedyPolicy(dst []int) ([]int, error) {
	return append(dst, x.solver.Policy[0]...), nil
}

// GreedyAction implements lanes.Greedy: it is the action of the mean model's best policy,
// solved once in an evaluation.
func (x *OptionLearner) GreedyAction(s int) int {
	if !x.solved {
		x.solveMean(s)
		x.solved = true
	}
	return x.solver.Action(s, 0)
}

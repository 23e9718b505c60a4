package modelagents

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/options"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// bootstrapModelParams are the parameters of learning with several models.
type bootstrapModelParams struct {
	Members int     `json:"members" jsonschema:"minimum=1,maximum=1024" jsonschema_description:"K, how many models there are; a choice of ours: every solution takes K times as long."`
	Belief  string  `json:"belief,omitempty" jsonschema:"enum=bootstrap,enum=posterior" jsonschema_description:"Kind of models. bootstrap: each has its own draw of the prior and has seen the data with its own random weights (Oza & Russell 2001). posterior: draws of the posterior, new ones whenever models are solved (Strens 2000). The default is a choice of ours."`
	Update  string  `json:"update,omitempty" jsonschema:"enum=poisson,enum=double-or-nothing,enum=exponential" jsonschema_description:"Of belief bootstrap: the weight of a step for a member. poisson: Poisson(1); default as in Oza & Russell (2001). double-or-nothing: 2 or 0 with equal chances (Owen & Eckles 2012). exponential: Exp(1) (Rubin 1981)."`
	Weight  float64 `json:"weight" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Of belief bootstrap: how many steps of every state and action a member's draw of the prior counts for; a choice of ours."`

	Alpha    *float64 `json:"alpha,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Prior Dirichlet parameter of each successor. Default: 1 over the number of states, which counts for one step in all; a choice of ours."`
	SeenOnly bool     `json:"seen_only" jsonschema_description:"Of belief posterior: only successors that have been seen are possible, and an action that was never taken stays where it is. By default all states are possible, as in TabulaRL."`
	Rewards  string   `json:"rewards,omitempty" jsonschema:"enum=optimistic,enum=neutral,enum=pessimistic" jsonschema_description:"Prior mean of a mean reward: the largest possible reward, which makes unknown pairs attractive, the middle, or the least. neutral is 0 if there are no bounds. The default is a choice of ours."`
	Mu0      *float64 `json:"mu0,omitempty" jsonschema_description:"Prior mean of a mean reward, in place of rewards. Default: see rewards."`
	Tau0     float64  `json:"tau0" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Prior precision of a mean reward; default of Osband's TabulaRL."`
	Tau      float64  `json:"tau" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Of belief posterior: precision of rewards around their mean, taken for known; default of TabulaRL."`

	Criterion string  `json:"criterion,omitempty" jsonschema:"enum=discounted,enum=average" jsonschema_description:"Criterion for policies and for the values of options. discounted: (1-gamma) times the value of the present state; default as in Strens (2000). average: reward per step. If episodes end, the next one begins at once, in the first states seen, with their frequencies."`
	Gamma     float64 `json:"gamma" jsonschema:"minimum=0,exclusiveMaximum=1" jsonschema_description:"Discount of criterion discounted; the default is a choice of ours."`
	Residual  float64 `json:"residual" jsonschema:"exclusiveMinimum=0,maximum=0.01" jsonschema_description:"Of criterion discounted, with more than 64 states: largest error of a policy's value per step, as a share of the range of a model's rewards; a choice of ours. Smaller models are solved exactly."`
	Growth    float64 `json:"growth" jsonschema:"minimum=0" jsonschema_description:"Models are solved again when the tries of a state and action have grown by this share since the last time. With 1 that is at the first try and when its visits have doubled (Ouyang et al. 2017); 0.5 is a choice of ours. 0 means after every step. In between, a host's decisions use the last solution. The greedy option, while it is held, is solved again by the same rule."`

	Behaviour string  `json:"behaviour,omitempty" jsonschema:"enum=thompson,enum=mean" jsonschema_description:"The policy when no host decides: the best policy of a member, drawn for every episode and whenever models are solved (posterior sampling, the default, as in Strens 2000), or the best policy of the mean model."`
	Reveal    float64 `json:"reveal" jsonschema:"exclusiveMinimum=0,maximum=1" jsonschema_description:"For hosts that decide: the probability that holding an uninformed option (uniform, count-bonus, repeats) shows which member is right; a choice of ours that overrates them."`
	Kappa     float64 `json:"kappa" jsonschema:"minimum=0" jsonschema_description:"For hosts that decide: of the option recency-bonus, whose bonus is kappa times the square root of the steps since a pair was last tried; a choice of ours."`
}

// BootstrapModel returns learning with K models of the task as a plugin: an online
// bootstrap, or draws of the posterior of PSRL. It is a vector.OptionAgent with
// options of every kind; a host's problems are those of options.Reduce, whose
// solvers start from their last solutions. Left alone it is posterior sampling, or
// greedy for the mean model. It assumes that observations are Markov states, and
// that termination is a property of the state entered, as PSRL does.
func BootstrapModel() vector.Plugin {
	return finite.OptionPlugin("rlrun/bootstrap-model@1",
		"Learns K models of the task, by online bootstrap or posterior sampling, and plans with them; follows the best policy of one (Strens 2000), or lets the host decide which options to explore with.",
		bootstrapModelParams{Members: 10, Belief: "bootstrap", Update: "poisson", Weight: 1, Rewards: "neutral", Tau0: 1, Tau: 1,
			Criterion: "discounted", Gamma: 0.99, Residual: 1e-6, Growth: 0.5, Behaviour: "thompson", Reveal: 1, Kappa: 0.001},
		func(p bootstrapModelParams, t finite.Task) (func() finite.Learner, error) {
			if err := p.check(t); err != nil {
				return nil, err
			}
			return func() finite.Learner {
				pairs := t.States * t.Actions
				x := &bootstrapModel{p: &p, t: t, terminals: modelbased.NewTerminalSet(t.States), first: make([]float64, t.States),
					models: replanTrigger{Growth: modelbased.NewGrowth(pairs, p.Growth)}, greedy: replanTrigger{Growth: modelbased.NewGrowth(pairs, p.Growth)},
					draws: make([]*mdp.Tabular, p.Members), memory: make([]*mdp.Tabular, p.Members+1)}
				x.rng = rand.New(&x.pcg)
				x.executor = candidateExecutor{rng: x.rng, scratch: make([]float64, t.Actions)}
				return x
			}, nil
		})
}

var masks = map[string]mdp.Mask{"poisson": mdp.Poisson, "double-or-nothing": mdp.DoubleOrNothing, "exponential": mdp.Exponential}

// check validates the parameters and settles the prior.
func (p *bootstrapModelParams) check(t finite.Task) error {
	if p.Alpha == nil {
		alpha := 1 / float64(t.States)
		p.Alpha = &alpha
	}
	low, high := t.Spec.RewardLow, t.Spec.RewardHigh
	mu0 := 0.0
	switch {
	case p.Rewards == "neutral" && !math.IsInf(low, 0) && !math.IsInf(high, 0):
		mu0 = low/2 + high/2
	case p.Rewards == "optimistic":
		mu0 = high
	case p.Rewards == "pessimistic":
		mu0 = low
	}
	if p.SeenOnly && p.Belief == "bootstrap" {
		return lanes.Invalid("seen_only is for belief posterior")
	}
	if p.Kappa > finite.MaxKappa {
		return lanes.Invalid("kappa is %v, must be in [0,%v]", p.Kappa, finite.MaxKappa)
	}
	if p.Mu0 == nil {
		p.Mu0 = &mu0
		if math.IsInf(mu0, 0) {
			return lanes.Unsupported("%s rewards need a bound on rewards; %s states none", p.Rewards, t.Spec.ID)
		}
	}
	if t.States > maxAverage && p.Criterion == "average" {
		return lanes.Unsupported("the average criterion is for up to %d states; %s has %d", maxAverage, t.Spec.ID, t.States)
	}
	if t.States > maxSuccessors/t.States/t.Actions/p.Members {
		return lanes.Unsupported("%s has %d states and %d actions, too many for %d models in which all leads anywhere", t.Spec.ID, t.States, t.Actions, p.Members)
	}
	return nil
}

// discount returns what options.ReduceConfig takes for the criterion. A discount
// of zero, which means gains there, is one that is too small to matter.
func (p *bootstrapModelParams) discount() float64 {
	if p.Criterion == "average" {
		return 0
	}
	return max(p.Gamma, 1e-12)
}

// replanTrigger says when models are solved anew.
type replanTrigger struct {
	*modelbased.Growth
	due bool
}

func (t *replanTrigger) start() {
	t.Reset()
	t.due = true
}

func (t *replanTrigger) visited(pair int, visits float64) { t.due = t.Add(pair, visits) || t.due }

func (t *replanTrigger) planned() {
	t.Reset()
	t.due = false
}

type bootstrapModel struct {
	terminals modelbased.TerminalSet
	p         *bootstrapModelParams
	t         finite.Task
	pcg       rand.PCG
	rng       *rand.Rand // over pcg
	belief    mdp.Belief
	within    bool      // an episode goes on
	first     []float64 // how often episodes began in each state
	visits    *options.Visits
	models    replanTrigger // since models were last solved
	greedy    replanTrigger // since the greedy policy was found
	news      bool          // since either
	average   mdp.AverageSolver
	solver    mdp.DiscountedSolver
	draws     []*mdp.Tabular    // memory for samples
	memory    []*mdp.Tabular    // for models with terminal states: of the members and the mean
	policy    mdp.Deterministic // that is followed when no host decides, or the greedy one; nil at first
	value     []float64         // of the last discounted plan: where the next starts
	executor  candidateExecutor // of another option than the greedy one
	followed  followed
	evaluates bool     // the greedy policy is followed
	learning  followed // what is followed otherwise, where evaluates is set
	facing    int      // the state of the last decision
	state     int      // of the last action
	action    int

	kinds     []options.Kind // that have been offered
	offered   bool
	deviates  bool // deviations are among them, which depend on the state
	reducer   *options.Reducer
	reduction *options.Reduction
	at        int // the state of the reduction
}

func (x *bootstrapModel) Start(s uint64) {
	x.pcg.Seed(s, uint64(seed.Exploration))
	prior, err := mdp.NewDirichlet(mdp.DirichletPrior{States: x.t.States, Actions: x.t.Actions, Alpha: *x.p.Alpha, SeenOnly: x.p.SeenOnly,
		Rewards: normalReward{*x.p.Mu0, x.p.Tau0, x.p.Tau}})
	if err == nil {
		x.belief = prior
		if x.p.Belief == "bootstrap" {
			x.belief, err = mdp.NewBootstrap(prior, x.p.Members, x.p.Weight, masks[x.p.Update], s^uint64(seed.Bootstrap))
		}
	}
	if err == nil {
		x.visits, err = options.NewVisits(x.t.States, x.t.Actions)
	}
	if err != nil {
		panic(fmt.Sprintf("modelagents: parameters that were not checked: %v", err))
	}
	clear(x.first)
	x.models.start()
	x.greedy.start()
	x.terminals.Clear()
	x.average, x.policy, x.value = mdp.AverageSolver{}, nil, nil
	x.reducer, x.reduction = options.NewReducer(options.CommitmentConfig{Fixed: 1}), nil
	x.within, x.news, x.followed, x.evaluates = false, true, itself, false
}

func (x *bootstrapModel) Begin(s int) int {
	if x.evaluates {
		x.followed, x.evaluates, x.models.due = x.learning, false, true
	}
	x.models.due = x.models.due || x.p.Behaviour == "thompson"
	return x.Act(s)
}

// arrive records that an action is to be taken in s.
func (x *bootstrapModel) arrive(s int) {
	x.terminals.Remove(s)
	if !x.within {
		x.first[s]++
		x.within = true
	}
}

func (x *bootstrapModel) Step(r float64, next int) int {
	x.learn(r, next)
	return x.Act(next)
}

func (x *bootstrapModel) End(r float64, next int, terminated bool) {
	x.learn(r, next)
	x.within = false
	if terminated {
		x.terminals.Add(next)
	}
}

func (x *bootstrapModel) SetObservation(s int) { x.facing = s }

func (x *bootstrapModel) Learn(r float64, next int) {
	x.learn(r, next)
	x.facing = next
}

func (x *bootstrapModel) learn(r float64, next int) {
	x.belief.Update(x.state, x.action, r, next)
	x.visits.Update(x.state, x.action)
	x.news = true
	i, visits := x.state*x.t.Actions+x.action, float64(x.visits.Count(x.state, x.action))
	x.models.visited(i, visits)
	x.greedy.visited(i, visits)
	if x.followed == anOption {
		x.executor.advance(r, next)
	}
}

func (x *bootstrapModel) Act(s int) int {
	x.arrive(s)
	x.state = s
	switch {
	case x.followed == anOption:
		x.action = x.executor.action(s)
		return x.action
	case x.followed == itself && x.models.due:
		x.plan()
	case x.followed == greedily && x.greedy.due:
		x.solve(x.mean())
		x.greedy.planned()
	}
	x.action = x.policy[s]
	return x.action
}

// followed is what is followed at present.
type followed int

const (
	itself   followed = iota // no host decides
	greedily                 // the greedy option: the best policy of the mean model, as it is by now
	anOption                 // another option of the last reduction
)

// solved says that models were solved with all that is known by now.
func (x *bootstrapModel) solved() {
	x.models.planned()
	x.greedy.planned()
	x.news = false
}

// plan finds the policy that is followed when no host decides. A solver that stops
// early leaves its best policy so far, one that fails that of before.
func (x *bootstrapModel) plan() {
	if x.p.Behaviour == "mean" {
		if x.news || x.policy == nil {
			x.solve(x.mean())
		}
	} else {
		x.solve(x.sample())
	}
	x.solved()
}

func (x *bootstrapModel) solve(m *mdp.Tabular, err error) {
	if x.policy == nil {
		x.policy = make(mdp.Deterministic, x.t.States)
	}
	if err != nil {
		return
	}
	switch {
	case x.p.Criterion == "average":
		if sol, _ := x.average.Solve(m, mdp.Options{}); sol != nil {
			copy(x.policy, sol.Policy)
		}
	case x.t.States > options.Eliminated:
		if x.value == nil {
			x.value = make([]float64, x.t.States)
		}
		x.solver.Solve(x.value, x.policy, m, x.p.Gamma, options.Residual(m, x.p.Residual, x.p.Gamma))
	default:
		if sol, _ := mdp.SolveDiscounted(m, x.p.Gamma, mdp.Options{Policy: x.policy, Value: x.value}); sol != nil {
			copy(x.policy, sol.Policy)
			x.value = sol.Value
		}
	}
}

// member returns the model of a member, a new one if the belief is a posterior. It
// is valid until the next call for the same member.
func (x *bootstrapModel) member(k int) (*mdp.Tabular, error) {
	switch b := x.belief.(type) {
	case *mdp.Bootstrap:
		return x.complete(k, b.Latest(k))
	case *mdp.Dirichlet:
		x.draws[k] = b.SampleInto(x.draws[k], x.rng)
		return x.complete(k, x.draws[k])
	}
	panic("modelagents: a belief of no known kind")
}

// sample returns the model of a member at random, or a draw of the posterior.
func (x *bootstrapModel) sample() (*mdp.Tabular, error) {
	if b, ok := x.belief.(*mdp.Bootstrap); ok {
		return x.member(x.rng.IntN(b.Len()))
	}
	return x.member(0)
}

// mean returns the mean model, valid until the next call.
func (x *bootstrapModel) mean() (*mdp.Tabular, error) {
	return x.complete(x.p.Members, x.belief.(interface{ LatestMean() *mdp.Tabular }).LatestMean())
}

// complete returns a model with the terminal states that have been found, in memory
// number k. Under the average criterion the next episode follows without a gap.
func (x *bootstrapModel) complete(k int, m *mdp.Tabular) (*mdp.Tabular, error) {
	if x.terminals.Len() == 0 {
		return m, nil
	}
	if x.p.Criterion == "discounted" {
		x.memory[k] = m.Terminating(x.memory[k], x.terminals.Is)
		return x.memory[k], nil
	}
	d := mdp.Definition{States: x.t.States, Actions: x.t.Actions}
	starts := 0.0
	for s, end := range x.terminals.Is {
		if end {
			d.Terminal = append(d.Terminal, s)
		} else {
			starts += x.first[s]
		}
	}
	for s, n := range x.first {
		if n > 0 && !x.terminals.Is[s] {
			d.Initial = append(d.Initial, mdp.Weight{S: s, P: n / starts})
		}
	}
	m, err := mdp.Generate(d, func(s, a int, row *mdp.Row) {
		if x.terminals.Is[s] {
			return
		}
		next, prob := m.Transition(s, a)
		for i, t := range next {
			row.Add(int(t), prob[i])
		}
		row.Reward(m.Reward(s, a))
	})
	if err != nil {
		return nil, err
	}
	return m.Restarting()
}

func (x *bootstrapModel) SetOptionKinds(kinds []options.Kind) error {
	if err := options.CheckKinds(kinds); err != nil {
		return lanes.Unsupported("%v", err)
	}
	if slices.Contains(kinds, options.Pairs) {
		return lanes.Unsupported("it values policies, not single pairs: options of kind %s need another agent", options.Pairs)
	}
	x.kinds, x.offered, x.deviates = kinds, true, slices.Contains(kinds, options.Deviations)
	return nil
}

func (x *bootstrapModel) DescribeDecision(p *options.Problem) error {
	if !x.offered {
		return lanes.Unsupported("no options have been offered")
	}
	x.arrive(x.facing)
	if x.models.due || x.reduction == nil || x.deviates && x.at != x.facing {
		if err := x.reduce(x.facing); err != nil && x.reduction == nil {
			return err
		}
	}
	x.reduction.At(p, x.facing, 0)
	return nil
}

// reduce makes the bandit over options of the present belief. If it fails, that of
// before remains.
func (x *bootstrapModel) reduce(s int) error {
	members := make([]*mdp.Tabular, x.p.Members)
	for k := range members {
		var err error
		if members[k], err = x.member(k); err != nil {
			return err
		}
	}
	mean, err := x.mean()
	if err != nil {
		return err
	}
	red, err := x.reducer.Reduce(members, options.ReduceConfig{
		Kinds: x.kinds, Mean: mean, Discount: x.p.discount(), Residual: x.p.Residual, State: s,
		Visits: x.visits, Kappa: x.p.Kappa, RevealProbability: x.p.Reveal,
	})
	if err != nil {
		return err
	}
	x.reduction, x.at = red, s
	x.policy = append(x.policy[:0], red.Candidates[0].Policy.(mdp.Deterministic)...)
	x.solved()
	return nil
}

func (x *bootstrapModel) Choose(option int) int {
	x.followed = greedily
	if option > 0 {
		x.followed = anOption
		x.executor.follow(x.reduction.Candidates[option], x.facing)
	}
	return x.Act(x.facing)
}

func (x *bootstrapModel) GreedyPolicy(dst []int) ([]int, error) {
	if x.policy == nil { // nothing has been solved
		return append(dst, make([]int, x.t.States)...), nil
	}
	return append(dst, x.policy...), nil
}

// GreedyAction implements lanes.Greedy: it is the action of the mean model's policy.
func (x *bootstrapModel) GreedyAction(s int) int {
	if x.followed != greedily {
		x.learning, x.evaluates, x.followed, x.greedy.due = x.followed, true, greedily, true
	}
	return x.Act(s)
}

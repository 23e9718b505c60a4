package options

import (
	"fmt"
	"math"
	"slices"

	"github.com/rlrun/rlrun/mdp"
)

// ReduceConfig say which bandit Reduce makes. The zero value is useful.
type ReduceConfig struct {
	// Kinds of options to explore with; default DefaultKinds.
	Kinds []Kind
	// Extra are further options.
	Extra []Candidate
	// Declared are those of kind Declared.
	Declared []DeclaredOption
	// Mean is the mean model, for which the greedy policy is optimal; default the
	// mean of the members.
	Mean *mdp.Tabular
	// Discount 0 values an option by its gain; a discount 0 < γ < 1 by (1−γ) times
	// its discounted value in the present state.
	Discount float64
	// Residual is how far values with a discount may be off, in units of the
	// range of a model's mean rewards (values are per step; see Reduction.Values).
	// Models of up to 64 states are solved by elimination, and their values exact to
	// rounding; larger ones by iteration. Default 1e-6.
	Residual float64
	// State is the present state, in which Deviations deviate.
	State    int
	Visits   *Visits // what was tried, which the kinds RecencyBonus and CountBonus need
	Kappa    float64 // κ of RecencyBonus, in units of reward; default 0.001
	Exponent float64 // of Repeats; default 2, as in Dabney et al. (2021)
	Longest  int     // of Repeats, in steps; default 100
	// RevealProbability is ζ of the uninformed options, in (0,1]; default 1.
	RevealProbability float64
	// Commitment says how long an option is held.
	Commitment CommitmentConfig
	// Steps is the number of steps seen so far: T is estimated anew when it has
	// doubled.
	Steps float64
}

// Reduction is a process reduced to a bandit over options.
type Reduction struct {
	// Candidates are the options; the greedy one is the first. No
	// policy occurs twice among the deterministic ones.
	Candidates []Candidate
	Commitment Commitment // for how many steps to hold an option

	arms     []Arm
	steps    [][]float64 // of each candidate, the mean duration of a declared one by state
	ofMember []int       // the candidate of each member, with DrawnMember
	offered  []int       // scratch: the options of the last AtMember
	chosen   []Arm       // scratch
	worth    []float64
	members  int
	states   int       // 1 if no value depends on the state
	values   []float64 // [s][x][k]
	optimal  []float64 // [s][k]
}

// Values returns v_k(x) for the members k, the value of candidate x in state s.
// The slice belongs to the reduction.
func (r *Reduction) Values(x, s int) []float64 {
	i := (s%r.states*len(r.arms) + x) * r.members
	return r.values[i : i+r.members : i+r.members]
}

// Optimal returns v*_k for the members k, their optimal values in state s. The
// slice belongs to the reduction.
func (r *Reduction) Optimal(s int) []float64 {
	i := s % r.states * r.members
	return r.optimal[i : i+r.members : i+r.members]
}

// At sets p to the decision to be made in state s, after a number of steps. It
// allocates nothing; p shares the memory of the reduction.
func (r *Reduction) At(p *Problem, s, step int) {
	n := len(r.arms) * r.members
	i := s % r.states * n
	*p = Problem{Arms: r.arms, Values: r.values[i : i+n : i+n], Optimal: r.Optimal(s),
		Step: step, Hold: r.Commitment.Steps, ExplorationCost: r.Commitment.ExplorationCost, Capped: r.Commitment.Capped}
}

// AtMember is At, with the policy of member k and without those of others that are offered
// only if they are drawn: DrawnMember. Declared options that do not begin in s are left out,
// too. The number of an option among the candidates is Offered of its number in p.
func (r *Reduction) AtMember(p *Problem, s, step, k int) {
	r.At(p, s, step)
	r.offered, r.chosen, r.worth = r.offered[:0], r.chosen[:0], r.worth[:0]
	for x, c := range r.Candidates {
		if (!c.drawn || x == r.OfMember(k)) && (!c.Ends || c.Option.Initiates(s)) {
			arm := r.arms[x]
			if c.Ends {
				arm.Steps = int(math.Ceil(r.steps[x][s]))
			}
			r.offered, r.chosen = append(r.offered, x), append(r.chosen, arm)
			r.worth = append(r.worth, p.row(x)...)
		}
	}
	p.Arms, p.Values = r.chosen, r.worth
}

// Offered returns the number of an option of the last AtMember among the candidates.
func (r *Reduction) Offered(option int) int { return r.offered[option] }

// OfMember returns the candidate with the policy of member k, −1 without DrawnMember.
func (r *Reduction) OfMember(k int) int {
	if r.ofMember == nil {
		return -1
	}
	return r.ofMember[k]
}

// Reduce makes a bandit over options of a belief, which is one or more equally
// likely models of one size (docs/theory.md §3.1, §3.4). Use a Reducer when the
// belief changes little by little.
func Reduce(members []*mdp.Tabular, o ReduceConfig) (*Reduction, error) {
	return NewReducer(o.Commitment).Reduce(members, o)
}

// Reducer makes reductions one after the other. Its solvers start from their last
// solutions, and T is estimated only when the greedy policy has changed or the
// data have doubled. It is not safe for concurrent use.
type Reducer struct {
	mean       mdp.AverageSolver
	members    []mdp.AverageSolver
	evaluator  mdp.AverageSolver
	policies   []mdp.Deterministic // of the mean and the members: where to start
	solver     mdp.DiscountedSolver
	optimal    [][]float64            // discounted values of those policies, if found by iteration
	last       map[string][][]float64 // discounted values of candidates by name and member
	commitment *commitmentEstimator
}

// NewReducer returns a reducer that holds options as w says; the Commitment of
// ReduceConfig is for Reduce only.
func NewReducer(w CommitmentConfig) *Reducer { return &Reducer{commitment: newCommitmentEstimator(w)} }

// Reduce is the function Reduce with the memory of earlier calls.
func (r *Reducer) Reduce(members []*mdp.Tabular, o ReduceConfig) (*Reduction, error) {
	if err := oneSize(members); err != nil {
		return nil, err
	}
	if err := o.complete(members[0]); err != nil {
		return nil, err
	}
	mean := o.Mean
	if mean == nil {
		var err error
		if mean, err = meanModel(members); err != nil {
			return nil, err
		}
	}
	if len(r.members) != len(members) {
		r.members = make([]mdp.AverageSolver, len(members))
		r.policies = make([]mdp.Deterministic, len(members)+1)
	}
	if len(r.optimal) != len(members)+1 || len(r.optimal[0]) != mean.NumStates() {
		r.optimal = make([][]float64, len(members)+1)
		for i := range r.optimal {
			r.optimal[i] = make([]float64, mean.NumStates())
		}
		r.last = map[string][][]float64{}
	}
	y, _, err := r.solve(&r.mean, mean, &o, 0)
	if err != nil {
		return nil, fmt.Errorf("mean model: %w", err)
	}
	solved := make([][]float64, len(members))
	policies := make([]mdp.Deterministic, len(members))
	for k, m := range members {
		if policies[k], solved[k], err = r.solve(&r.members[k], m, &o, k+1); err != nil {
			return nil, fmt.Errorf("model %d: %w", k, err)
		}
	}
	red := &Reduction{members: len(members)}
	b := &Belief{ReduceConfig: &o, MeanModel: mean, Optimal: y, OptimalOf: policies}
	if red.Candidates, err = b.options(); err != nil {
		return nil, err
	}
	red.ofMember = b.ofMember
	if red.Commitment, err = r.commitment.Commitment(y, o.Steps, func() []*mdp.Tabular { return members }); err != nil {
		return nil, err
	}
	values := make([][][]float64, len(red.Candidates)) // [x][k][s]
	for x := range red.Candidates {
		c := &red.Candidates[x]
		red.arms = append(red.arms, c.Arm)
		steps := make([]float64, len(y)) // of declared options, summed over the members
		for k, m := range members {
			var v []float64
			if c.Ends {
				v, err = evaluateDeclared(m, c.Option, o.Discount, values[0][k], steps)
			} else {
				v, err = r.evaluate(m, c, &o, k)
			}
			if err != nil {
				return nil, fmt.Errorf("option %s in model %d: %w", c.Name, k, err)
			}
			values[x] = append(values[x], v)
		}
		if c.Ends {
			for s := range steps {
				steps[s] /= float64(len(members))
			}
			red.steps = append(red.steps, steps)
		} else {
			red.steps = append(red.steps, nil)
		}
	}
	red.store(values, solved)
	return red, nil
}

// options returns the greedy option and those of the kinds asked for.
func (b *Belief) options() ([]Candidate, error) {
	if err := CheckKinds(b.Kinds); err != nil {
		return nil, err
	}
	b.Directed(Greedy.String(), b.Optimal)
	for _, k := range b.Kinds {
		if err := k.FromModels(b); err != nil {
			return nil, err
		}
	}
	others := append(b.others, b.Extra...)
	for _, c := range others {
		if c.Policy == nil && c.repeats == nil && !c.Ends {
			return nil, fmt.Errorf("options: option %s has no policy to be valued by", c.Name)
		}
	}
	return append(b.candidates, others...), nil
}

// OptimalWithBonus returns the policy that is optimal for the mean model with a bonus
// added to its rewards or, with alone, in their place.
func (b *Belief) OptimalWithBonus(k Kind, bonus func(scale float64) func(s, a int) float64, scale float64, alone bool) (mdp.Deterministic, error) {
	if b.Visits == nil {
		return nil, fmt.Errorf("options: options of kind %s need the visits", k.String())
	}
	m, err := addBonus(b.MeanModel, bonus(scale), alone)
	if err != nil {
		return nil, err
	}
	var sol *mdp.Solution
	if b.Discount == 0 {
		sol, err = mdp.SolveAverage(m, mdp.Options{})
	} else {
		sol, err = mdp.SolveDiscounted(m, b.Discount, mdp.Options{})
	}
	if err != nil {
		return nil, fmt.Errorf("mean model with bonus: %w", err)
	}
	return sol.Policy, nil
}

func (o *ReduceConfig) complete(m *mdp.Tabular) error {
	if o.Kinds == nil {
		o.Kinds = DefaultKinds
	}
	if o.Kappa == 0 {
		o.Kappa = 0.001
	}
	if o.Exponent == 0 {
		o.Exponent = 2
	}
	if o.Longest == 0 {
		o.Longest = 100
	}
	if o.RevealProbability == 0 {
		o.RevealProbability = 1
	}
	if o.Residual == 0 {
		o.Residual = 1e-6
	}
	switch {
	case !(o.Residual > 0):
		return fmt.Errorf("options: residual %v of values is not positive", o.Residual)
	case !(o.Discount >= 0 && o.Discount < 1):
		return fmt.Errorf("options: discount %v of values outside [0,1)", o.Discount)
	case o.State < 0 || o.State >= m.NumStates():
		return fmt.Errorf("options: there is no state %d", o.State)
	case !(o.RevealProbability > 0 && o.RevealProbability <= 1):
		return fmt.Errorf("options: probability %v of revealing outside (0,1]", o.RevealProbability)
	case o.Mean != nil && (o.Mean.NumStates() != m.NumStates() || o.Mean.NumActions() != m.NumActions()):
		return fmt.Errorf("options: the mean model is not of the size of the members")
	case o.Visits != nil && (o.Visits.states != m.NumStates() || o.Visits.actions != m.NumActions()):
		return fmt.Errorf("options: the visits are not of the size of the members")
	}
	return nil
}

// Eliminated is the number of states up to which discounted models are solved by
// elimination, which is quicker there than iteration.
const Eliminated = 64

// Residual returns what share of the range of a model's mean rewards comes to in
// units of reward, but no less than rounding allows for with a discount.
func Residual(m *mdp.Tabular, share, gamma float64) float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for s := range m.NumStates() {
		for a := range m.NumActions() {
			low, high = min(low, m.Reward(s, a)), max(high, m.Reward(s, a))
		}
	}
	return max(share*(high-low), 1e-14*max(high, -low)/(1-gamma), 1e-300)
}

// solve returns an optimal policy and its value or gain in every state, in memory
// of their own.
func (r *Reducer) solve(solver *mdp.AverageSolver, m *mdp.Tabular, o *ReduceConfig, i int) (mdp.Deterministic, []float64, error) {
	n := m.NumStates()
	start := mdp.Options{}
	if len(r.policies[i]) == n {
		start.Policy = r.policies[i]
	}
	var sol *mdp.Solution
	var err error
	switch {
	case o.Discount == 0:
		sol, err = solver.Solve(m, mdp.Options{})
	case n <= Eliminated:
		sol, err = mdp.SolveDiscounted(m, o.Discount, start)
	default:
		pi := make(mdp.Deterministic, n)
		copy(pi, start.Policy)
		if _, err := r.solver.Solve(r.optimal[i], pi, m, o.Discount, Residual(m, o.Residual, o.Discount)); err != nil {
			return nil, nil, err
		}
		r.policies[i] = pi
		return pi, scaled(r.optimal[i], 1-o.Discount), nil
	}
	if err != nil {
		return nil, nil, err
	}
	r.policies[i] = slices.Clone(sol.Policy)
	value := slices.Clone(sol.Gain)
	if o.Discount > 0 {
		value = scaled(sol.Value, 1-o.Discount)
	}
	return r.policies[i], value, nil
}

// Policy returns the policy that is optimal in member k as it is now, from the last one on.
func (r *Reducer) Policy(m *mdp.Tabular, k int, o ReduceConfig) (mdp.Deterministic, error) {
	if err := o.complete(m); err != nil {
		return nil, err
	}
	pi, _, err := r.solve(&r.members[k], m, &o, k+1)
	return pi, err
}

func scaled(v []float64, f float64) []float64 {
	w := make([]float64, len(v))
	for s, x := range v {
		w[s] = f * x
	}
	return w
}

// evaluate returns the value or gain of a candidate in every state of member k.
func (r *Reducer) evaluate(m *mdp.Tabular, c *Candidate, o *ReduceConfig, k int) ([]float64, error) {
	gamma := o.Discount
	if c.repeats != nil {
		return evaluateRepeats(m, c, gamma)
	}
	pi, ok := c.Policy.(mdp.Deterministic)
	if ok && gamma > 0 && m.NumStates() > Eliminated {
		return r.iterate(m, pi, c.Name, o, k)
	}
	if ok && gamma == 0 && m.NumStates() <= largest {
		sol, err := r.evaluator.Evaluate(m, pi)
		if err != nil {
			return nil, err
		}
		return slices.Clone(sol.Gain), nil
	}
	chain, err := mdp.Induce(m, c.Policy)
	if err != nil {
		return nil, err
	}
	if gamma == 0 {
		gain, _, err := chain.EvaluateAverage()
		return gain, err
	}
	v, err := chain.EvaluateDiscounted(gamma)
	return scaled(v, 1-gamma), err
}

// iterate evaluates a policy from its last value, or from the optimal one if it is
// that policy's or there is no other.
func (r *Reducer) iterate(m *mdp.Tabular, pi mdp.Deterministic, name string, o *ReduceConfig, k int) ([]float64, error) {
	of := r.last[name]
	if of == nil {
		of = make([][]float64, len(r.members))
		r.last[name] = of
	}
	same := slices.Equal(pi, r.policies[k+1])
	if same || of[k] == nil {
		of[k] = append(of[k][:0], r.optimal[k+1]...)
	}
	if !same {
		if _, err := r.solver.Evaluate(of[k], m, pi, o.Discount, Residual(m, o.Residual, o.Discount)); err != nil {
			return nil, err
		}
	}
	return scaled(of[k], 1-o.Discount), nil
}

// evaluateRepeats values the drawing of repeated actions, one after the other.
func evaluateRepeats(m *mdp.Tabular, c *Candidate, gamma float64) ([]float64, error) {
	discount := gamma
	if gamma == 0 {
		discount = 1
	}
	models := make([]*Model, len(c.repeats))
	weights := make([]float64, len(c.repeats))
	for a, o := range c.repeats {
		var err error
		if models[a], err = NewModel(m, o, discount); err != nil {
			return nil, err
		}
		weights[a] = 1 / float64(len(c.repeats))
	}
	v := make([]float64, m.NumStates())
	if gamma == 0 {
		g, err := gain(models, weights)
		for s := range v {
			v[s] = g
		}
		return v, err
	}
	v, err := evaluate(models, weights)
	return scaled(v, 1-gamma), err
}

// evaluateDeclared values an option that ends, and the greedy policy after it, whose values per
// step are then. It adds the discounted duration, E Σ_{t<d} γ^t, to steps.
func evaluateDeclared(m *mdp.Tabular, o Option, gamma float64, then, steps []float64) ([]float64, error) {
	model, err := NewModel(m, o, gamma)
	if err != nil {
		return nil, err
	}
	v := make([]float64, len(then))
	for s := range v {
		v[s] = (1 - gamma) * model.Reward[s]
		sum := 0.0
		for x, p := range model.Transition(s) {
			v[s] += p * then[x]
			sum += p
		}
		steps[s] += (1 - sum) / (1 - gamma)
	}
	return v, nil
}

// store lays values out by state, once if no value depends on it.
func (r *Reduction) store(values [][][]float64, optimal [][]float64) {
	r.states = 1
	n := len(optimal[0])
	for s := 1; s < n && r.states == 1; s++ {
		for k := range optimal {
			for x := range values {
				if values[x][k][s] != values[x][k][0] {
					r.states = n
				}
			}
			// The optimum's roundoff is not worth a table of its own.
			if math.Abs(optimal[k][s]-optimal[k][0]) > 1e-9*math.Abs(optimal[k][0]) {
				r.states = n
			}
		}
	}
	for s := range r.states {
		for x := range values {
			for k := range values[x] {
				r.values = append(r.values, values[x][k][s])
			}
		}
		for k := range optimal {
			r.optimal = append(r.optimal, optimal[k][s])
		}
	}
}

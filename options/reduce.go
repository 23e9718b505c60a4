package options

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/rlrun/rlrun/mdp"
)

// ReduceConfig says which bandit a Reducer makes. Only Mean has no default.
type ReduceConfig struct {
	// Kinds of options to explore with; default DefaultKinds.
	Kinds []Kind
	// Declared are those of kind Declared.
	Declared []DeclaredOption
	// Mean is the mean model, for which the greedy policy is optimal.
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
	State  int
	Visits *Visits // what was tried, which the kinds RecencyBonus and CountBonus need
	Kappa  float64 // κ of RecencyBonus, in units of reward; default 0.001
	// RevealProbability is ζ of the uninformed options, in (0,1]; default 1.
	RevealProbability float64
}

// Reduction is a process reduced to a bandit over options.
type Reduction struct {
	// Candidates are the options; the greedy one is the first. No
	// policy occurs twice among the deterministic ones.
	Candidates []Candidate

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

// At sets p to the decision to be made in state s, with options that are held for a step. It
// allocates nothing; p shares the memory of the reduction.
func (r *Reduction) At(p *Problem, s int) {
	n := len(r.arms) * r.members
	i := s % r.states * n
	*p = Problem{Arms: r.arms, Values: r.values[i : i+n : i+n], Optimal: r.Optimal(s), Hold: 1}
}

// AtMember is At, with the policy of member k and without those of others that are offered
// only if they are drawn: DrawnMember. Declared options that do not begin in s are left out,
// too. The number of an option among the candidates is Offered of its number in p.
func (r *Reduction) AtMember(p *Problem, s, k int) {
	r.At(p, s)
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

// Reducer makes reductions one after the other. Its solvers start from their last
// solutions. The zero value is ready. It is not safe for concurrent use.
type Reducer struct {
	mean      mdp.AverageSolver
	members   []mdp.AverageSolver
	evaluator mdp.AverageSolver
	policies  []mdp.Deterministic // of the mean and the members: where to start
	solver    mdp.DiscountedSolver
	optimal   [][]float64 // discounted values of those policies, if found by iteration
	last      []lastValues
}

// lastValues are the discounted values of a candidate by member, if found by iteration.
type lastValues struct {
	name string
	of   [][]float64
}

// Reduce makes a bandit over options of a belief, which is one or more equally
// likely models of one size (docs/theory.md §3.1, §3.4).
func (r *Reducer) Reduce(members []*mdp.Tabular, o ReduceConfig) (*Reduction, error) {
	if err := o.complete(members); err != nil {
		return nil, err
	}
	mean := o.Mean
	if len(r.members) != len(members) {
		r.members = make([]mdp.AverageSolver, len(members))
		r.policies = make([]mdp.Deterministic, len(members)+1)
	}
	if len(r.optimal) != len(members)+1 || len(r.optimal[0]) != mean.NumStates() {
		r.optimal = make([][]float64, len(members)+1)
		for i := range r.optimal {
			r.optimal[i] = make([]float64, mean.NumStates())
		}
		r.last = nil
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
	return append(b.candidates, b.others...), nil
}

// OptimalWithBonus returns the policy that is optimal for the mean model with a bonus
// added to its rewards or, with alone, in their place.
func (b *Belief) OptimalWithBonus(k Kind, bonus func(s, a int) float64, alone bool) (mdp.Deterministic, error) {
	if b.Visits == nil {
		return nil, fmt.Errorf("options: options of kind %s need the visits", k.String())
	}
	m, err := addBonus(b.MeanModel, bonus, alone)
	if err != nil {
		return nil, err
	}
	var sol *mdp.Solution
	if b.Discount == 0 {
		sol, err = mdp.SolveAverage(m, mdp.SolverConfig{})
	} else {
		sol, err = mdp.SolveDiscounted(m, b.Discount, mdp.SolverConfig{})
	}
	if err != nil {
		return nil, fmt.Errorf("mean model with bonus: %w", err)
	}
	return sol.Policy, nil
}

// complete fills in the defaults, and returns what is wrong for these members.
func (o *ReduceConfig) complete(members []*mdp.Tabular) error {
	if len(members) == 0 || o.Mean == nil {
		return errors.New("options: a belief needs at least one model, and the mean of its models")
	}
	for k, m := range members {
		if m.NumStates() != o.Mean.NumStates() || m.NumActions() != o.Mean.NumActions() {
			return fmt.Errorf("options: model %d has %d states and %d actions, the mean model %d and %d",
				k, m.NumStates(), m.NumActions(), o.Mean.NumStates(), o.Mean.NumActions())
		}
	}
	if o.Kinds == nil {
		o.Kinds = DefaultKinds
	}
	if o.Kappa == 0 {
		o.Kappa = 0.001
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
	case o.State < 0 || o.State >= o.Mean.NumStates():
		return fmt.Errorf("options: there is no state %d", o.State)
	case !(o.RevealProbability > 0 && o.RevealProbability <= 1):
		return fmt.Errorf("options: probability %v of revealing outside (0,1]", o.RevealProbability)
	case o.Visits != nil && (o.Visits.states != o.Mean.NumStates() || o.Visits.actions != o.Mean.NumActions()):
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
	start := mdp.SolverConfig{}
	if len(r.policies[i]) == n {
		start.Policy = r.policies[i]
	}
	var sol *mdp.Solution
	var err error
	switch {
	case o.Discount == 0:
		sol, err = solver.Solve(m, mdp.SolverConfig{})
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
	if o.Mean == nil {
		o.Mean = m
	}
	if err := o.complete([]*mdp.Tabular{m}); err != nil {
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
	i := slices.IndexFunc(r.last, func(v lastValues) bool { return v.name == name })
	if i < 0 {
		i = len(r.last)
		r.last = append(r.last, lastValues{name, make([][]float64, len(r.members))})
	}
	of := r.last[i].of
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

// evaluateRepeats values the drawing of repeated actions, one after the other, by equal chances
// whatever the state. Their mean says from where to where, with what reward and duration,
// one draw leads on.
func evaluateRepeats(m *mdp.Tabular, c *Candidate, gamma float64) ([]float64, error) {
	n, share := m.NumStates(), 1/float64(len(c.repeats))
	process, reward, duration := mat.NewDense(n, n, nil), make([]float64, n), make([]float64, n)
	discount := gamma
	if gamma == 0 {
		discount = 1
	}
	for _, o := range c.repeats {
		model, err := NewModel(m, o, discount)
		if err != nil {
			return nil, err
		}
		for s := range n {
			reward[s] += share * model.Reward[s]
			if gamma == 0 {
				duration[s] += share * model.Duration[s]
			}
			floats.AddScaled(process.RawRowView(s), share, model.Transition(s))
		}
	}
	if gamma == 0 {
		return renewalReward(process, reward, duration)
	}
	for s := range n { // (I − P)v = r
		row := process.RawRowView(s)
		floats.Scale(-1, row)
		row[s]++
	}
	v := mat.NewVecDense(n, nil)
	if err := v.SolveVec(process, mat.NewVecDense(n, reward)); err != nil {
		return nil, fmt.Errorf("options: value of a policy over options: %w", err)
	}
	return scaled(v.RawVector().Data, 1-gamma), nil
}

// renewalReward returns, for every state, the long-run reward per step of a process: the reward of a
// draw over its duration, both averaged over the stationary distribution of the states in which
// draws are made. The chain of these must have a single closed class.
func renewalReward(process *mat.Dense, reward, duration []float64) ([]float64, error) {
	n := len(reward)
	chain, err := mdp.Generate(mdp.Definition{States: n, Actions: 1}, func(s, _ int, row *mdp.Row) {
		for x, p := range process.RawRowView(s) {
			row.Add(x, min(p, 1))
		}
	})
	if err != nil {
		return nil, err
	}
	mu, _, err := mdp.Stationary(chain, mdp.Constant(n, 0))
	if err != nil {
		return nil, err
	}
	return slices.Repeat([]float64{floats.Dot(mu, reward) / floats.Dot(mu, duration)}, n), nil
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

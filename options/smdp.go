package options

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/rlrun/rlrun/mdp"
)

// PlanConfig govern SolveSMDP. The zero value is useful.
type PlanConfig struct {
	Tolerance float64   // of the value; default 1e-9 times the largest reward of a model, or 1e-9
	MaxSweeps int       // default 1,000,000
	Value     []float64 // where to start, not kept; default zero
}

// Solution is the best that can be done with a set of options.
type Solution struct {
	Value  []float64 // of the best policy over options, by state
	Option []int     // which option that takes, by state; the first of equal ones
	Bound  float64   // on the error of Value
	Sweeps int       // over all states
}

// SolveSMDP finds the optimal value among policies over options, by value
// iteration with the options' models (Sutton, Precup & Singh 1999), in place
// and state by state. All models must be of one process and one discount, and
// some option must initiate in every state. With mdp.ErrNotConverged the solution
// is the best so far.
//
// The operator contracts by the largest E γ^k, k being the duration of an option,
// so that long options converge fast. The bound follows from a last synchronous
// sweep by Banach's theorem.
func SolveSMDP(models []*Model, o PlanConfig) (*Solution, error) {
	n, rate, err := checkModels(models)
	if err != nil {
		return nil, err
	}
	if !(rate < 1) {
		return nil, errors.New("options: planning needs a discount below one")
	}
	sol := &Solution{Value: make([]float64, n), Option: make([]int, n), Bound: math.Inf(1)}
	if o.Value != nil {
		if len(o.Value) != n {
			return nil, fmt.Errorf("options: the value to start from has %d states, the models %d", len(o.Value), n)
		}
		copy(sol.Value, o.Value)
	}
	if !(o.Tolerance > 0) {
		o.Tolerance = 1e-9 * largestReward(models)
	}
	if o.MaxSweeps <= 0 {
		o.MaxSweeps = 1_000_000
	}
	backup := func(s int) (value float64, option int) {
		value = math.Inf(-1)
		for i, m := range models {
			if m.Initiation[s] {
				if q := m.Backup(s, sol.Value); q > value {
					value, option = q, i
				}
			}
		}
		return value, option
	}
	next := make([]float64, n)
	for sol.Sweeps < o.MaxSweeps {
		sol.Sweeps++
		change := 0.0
		for s := range n {
			v, _ := backup(s)
			change = max(change, math.Abs(v-sol.Value[s]))
			sol.Value[s] = v
		}
		if change*rate > o.Tolerance*(1-rate) {
			continue
		}
		residual := 0.0
		for s := range n {
			next[s], sol.Option[s] = backup(s)
			residual = max(residual, math.Abs(next[s]-sol.Value[s]))
		}
		copy(sol.Value, next)
		sol.Sweeps++
		sol.Bound = residual * rate / (1 - rate)
		if sol.Bound <= o.Tolerance {
			return sol, nil
		}
	}
	return sol, mdp.ErrNotConverged
}

// checkModels returns the number of states and the largest row sum.
func checkModels(models []*Model) (states int, rate float64, err error) {
	if len(models) == 0 {
		return 0, 0, errors.New("options: there are no options")
	}
	states = models[0].NumStates()
	covered := make([]bool, states)
	for i, m := range models {
		if m.NumStates() != states || m.gamma != models[0].gamma {
			return 0, 0, fmt.Errorf("options: model %d has %d states and discount %v, model 0 %d and %v",
				i, m.NumStates(), m.gamma, states, models[0].gamma)
		}
		for s, ok := range m.Initiation {
			if !ok {
				continue
			}
			covered[s] = true
			sum := 0.0
			for _, p := range m.Transition(s) {
				sum += p
			}
			rate = max(rate, sum)
		}
	}
	for s, ok := range covered {
		if !ok {
			return 0, 0, fmt.Errorf("options: no option initiates in state %d", s)
		}
	}
	return states, rate, nil
}

func largestReward(models []*Model) float64 {
	r := 0.0
	for _, m := range models {
		for _, x := range m.Reward {
			r = max(r, math.Abs(x))
		}
	}
	if r == 0 {
		return 1
	}
	return r
}

// gain returns the long-run reward per step when, whenever an option has ended,
// the next one is chosen with the given probabilities, whatever the state. It is
// the reward of an option over its duration, both averaged over the stationary
// distribution of the states in which options start (renewal-reward). The models
// are of discount 1, every option of positive weight initiates everywhere, and
// the chain of those states has a single closed class.
func gain(models []*Model, weights []float64) (float64, error) {
	process, reward, duration, err := mixture(models, weights)
	if err != nil {
		return 0, err
	}
	if models[0].gamma != 1 {
		return 0, errors.New("options: a gain needs models without discount")
	}
	n := len(reward)
	t, err := mdp.Generate(mdp.Definition{States: n, Actions: 1}, func(s, _ int, row *mdp.Row) {
		for x, p := range process.RawRowView(s) {
			if p > 0 {
				row.Add(x, min(p, 1))
			}
		}
	})
	if err != nil {
		return 0, err
	}
	mu, _, err := mdp.Stationary(t, mdp.Constant(n, 0))
	if err != nil {
		return 0, err
	}
	r, d := 0.0, 0.0
	for s, p := range mu {
		r += p * reward[s]
		d += p * duration[s]
	}
	return r / d, nil
}

// evaluate returns the discounted value, from every state, of choosing options as
// gain does; the models are of a discount below one.
func evaluate(models []*Model, weights []float64) ([]float64, error) {
	process, reward, _, err := mixture(models, weights)
	if err != nil {
		return nil, err
	}
	if !(models[0].gamma < 1) {
		return nil, errors.New("options: evaluation needs a discount below one")
	}
	n := len(reward)
	a, b := process, mat.NewVecDense(n, reward)
	a.Scale(-1, a)
	for s := range n {
		a.Set(s, s, a.At(s, s)+1)
	}
	v := mat.NewVecDense(n, nil)
	if err := v.SolveVec(a, b); err != nil {
		return nil, fmt.Errorf("options: value of a policy over options: %w", err)
	}
	return v.RawVector().Data, nil
}

// mixture returns the mean of option models under the weights.
func mixture(models []*Model, weights []float64) (process *mat.Dense, reward, duration []float64, err error) {
	n, _, err := checkModels(models)
	if err != nil {
		return nil, nil, nil, err
	}
	if len(weights) != len(models) {
		return nil, nil, nil, fmt.Errorf("options: %d weights for %d options", len(weights), len(models))
	}
	total := 0.0
	for i, w := range weights {
		if !(w >= 0) {
			return nil, nil, nil, fmt.Errorf("options: weight %d is %v", i, w)
		}
		total += w
	}
	if !(total > 0) || math.IsInf(total, 1) {
		return nil, nil, nil, fmt.Errorf("options: the weights sum to %v", total)
	}
	process = mat.NewDense(n, n, nil)
	reward, duration = make([]float64, n), make([]float64, n)
	for i, m := range models {
		w := weights[i] / total
		if w == 0 {
			continue
		}
		for s := range n {
			if !m.Initiation[s] {
				return nil, nil, nil, fmt.Errorf("options: option %d does not initiate in state %d", i, s)
			}
			reward[s] += w * m.Reward[s]
			if m.Duration != nil {
				duration[s] += w * m.Duration[s]
			}
			row := process.RawRowView(s)
			for x, p := range m.Transition(s) {
				row[x] += w * p
			}
		}
	}
	return process, reward, duration, nil
}

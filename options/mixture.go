package options

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/rlrun/rlrun/mdp"
)

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

// mixture returns the mean of option models under the weights. All models are of one
// process and one discount.
func mixture(models []*Model, weights []float64) (process *mat.Dense, reward, duration []float64, err error) {
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
	n := models[0].NumStates()
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

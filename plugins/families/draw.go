package families

import (
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// between draws an integer from low to high, both included.
func between(rng *rand.Rand, low, high int) int { return low + rng.IntN(high-low+1) }

// uniform draws a number from [low, high).
func uniform(rng *rand.Rand, low, high float64) float64 { return low + (high-low)*rng.Float64() }

// skewed draws from Beta(1,b), whose mean is 1/(1+b).
func skewed(rng *rand.Rand, b float64) float64 { return 1 - math.Pow(1-rng.Float64(), 1/b) }

// simplex draws n probabilities uniformly from all that sum to one.
func simplex(rng *rand.Rand, n int) []float64 {
	p, sum := make([]float64, n), 0.0
	for i := range p {
		p[i] = rng.ExpFloat64()
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// from is the initial distribution that begins in one state.
func from(s int) []mdp.Weight { return []mdp.Weight{{S: s, P: 1}} }

// generate makes a task of a definition and names of its actions, if they have some.
func generate(d mdp.Definition, fill func(s, a int, row *mdp.Row), actions ...string) (*catalog.Task, error) {
	d.ActionNames = actions
	m, err := mdp.Generate(d, fill)
	if err != nil {
		return nil, err
	}
	return &catalog.Task{Model: m}, nil
}

// renumbered numbers the actions of a task anew, in random order, the same in all
// states.
func renumbered(t *catalog.Task, rng *rand.Rand) (*catalog.Task, error) {
	m, err := t.Model.Reordered(t.Model.Name(), rng.Perm(t.Model.NumActions()))
	if err != nil {
		return nil, err
	}
	return &catalog.Task{Model: m, Layout: t.Layout}, nil
}

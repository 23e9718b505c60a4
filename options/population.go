package options

import "github.com/rlrun/rlrun/bandit"

// newPopulation returns a population of k members for fill.
func newPopulation(k int) *bandit.Population {
	p, err := bandit.NewPopulation(make([]float64, k), bandit.PopulationOptions{Mode: bandit.DrawnMember, Step: 1})
	if err != nil {
		panic("options: a population of zeros cannot be made: " + err.Error())
	}
	return p
}

// fill gives a population of newPopulation new members, which are finite, without
// allocating.
func fill(p *bandit.Population, values []float64) {
	if err := p.Reset(values); err != nil {
		panic("options: a population cannot be filled: " + err.Error())
	}
}

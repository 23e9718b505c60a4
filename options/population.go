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

// fill gives a population of newPopulation new members without allocating. With
// step one a drawn member moves to zero exactly, and from zero to any value
// exactly, so that the result is that of bandit.NewPopulation to the bit. It takes
// O(K²), K being small.
func fill(p *bandit.Population, values []float64) {
	k := p.Len()
	for p.Max() > 0 {
		p.Take(0)
		p.Update(0, nil)
	}
	for p.Min() < 0 {
		p.Take(k - 1)
		p.Update(0, nil)
	}
	positive := 0 // members before the zeros
	for _, v := range values {
		if v == 0 {
			continue
		}
		p.Take(positive)
		p.Update(v, nil)
		if v > 0 {
			positive++
		}
	}
}

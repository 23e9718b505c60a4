package options

import "github.com/rlrun/rlrun/mdp"

// meanModel returns the mean of models of one size, with equal weights. Rewards are
// averaged as a bandit.Population averages its members, so that with one state the
// greedy policy is the greedy arm to the last bit.
func meanModel(models []*mdp.Tabular) (*mdp.Tabular, error) {
	n := float64(len(models))
	d := mdp.Definition{States: models[0].NumStates(), Actions: models[0].NumActions()}
	sums := make([]float64, d.States)
	rewards := make([]float64, len(models))
	p := newPopulation(len(models))
	return mdp.Generate(d, func(s, a int, row *mdp.Row) {
		clear(sums)
		for k, m := range models {
			next, prob := m.Transition(s, a)
			for i, t := range next {
				sums[t] += prob[i]
			}
			rewards[k] = m.Reward(s, a)
		}
		for t, p := range sums {
			if p > 0 {
				row.Add(t, min(p/n, 1))
			}
		}
		fill(p, rewards)
		row.Reward(p.Mean())
	})
}

// reduce is a Reducer's first reduction, with the mean of the members if there is no other.
func reduce(members []*mdp.Tabular, o ReduceConfig) (*Reduction, error) {
	return reduceBy(new(Reducer), members, o)
}

func reduceBy(r *Reducer, members []*mdp.Tabular, o ReduceConfig) (*Reduction, error) {
	if o.Mean == nil {
		var err error
		if o.Mean, err = meanModel(members); err != nil {
			return nil, err
		}
	}
	return r.Reduce(members, o)
}

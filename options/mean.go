package options

import (
	"fmt"

	"github.com/rlrun/rlrun/mdp"
)

// meanModel returns the mean of models of one size, with equal weights. Rewards are
// averaged as a bandit.Population averages its members, so that with one state the
// greedy policy is the greedy arm to the last bit.
func meanModel(models []*mdp.Tabular) (*mdp.Tabular, error) {
	if err := oneSize(models); err != nil {
		return nil, err
	}
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

func oneSize(models []*mdp.Tabular) error {
	if len(models) == 0 {
		return fmt.Errorf("options: a belief needs at least one model")
	}
	for k, m := range models {
		if m.NumStates() != models[0].NumStates() || m.NumActions() != models[0].NumActions() {
			return fmt.Errorf("options: model %d has %d states and %d actions, model 0 %d and %d",
				k, m.NumStates(), m.NumActions(), models[0].NumStates(), models[0].NumActions())
		}
	}
	return nil
}

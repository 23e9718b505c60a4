package options

import "math"

// RecencyBonus is optimal for the mean model with the bonus κ√τ of Dyna-Q+ for a pair
// that has not been tried for τ steps (Sutton 1990; Sutton & Barto 2018, §8.3). With
// tables the bonus counts in the present state only (their exercise 8.4).
var RecencyBonus Kind = recencyBonusKind{named{"recency-bonus", "the optimal policy with a bonus for actions not taken for long (Dyna-Q+)"}}

type recencyBonusKind struct{ named }

func (k recencyBonusKind) FromModels(b *Belief) error {
	pi, err := b.OptimalWithBonus(k, b.Visits.RecencyBonus(b.Kappa), false)
	if err == nil {
		b.Directed(k.String(), pi)
	}
	return err
}

func (k recencyBonusKind) Prepare(t *Tables) error { return t.NeedVisits(k) }

func (k recencyBonusKind) FromTables(t *Tables) {
	t.ThenGreedy(k.String(), unnumbered, k.Action(t))
}

func (recencyBonusKind) Action(t *Tables) int {
	visits, s := t.agent.Visits()
	best, action := math.Inf(-1), 0
	for a, q := range t.agent.Means() {
		if q += t.Kappa * math.Sqrt(float64(visits.Age(s, a))); q > best {
			best, action = q, a
		}
	}
	return action
}

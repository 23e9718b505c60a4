package options

// CountBonus is optimal for the bonus 1/√n of a pair tried n times alone, without
// reward (MBIE-EB; Strehl & Littman 2008). It is uninformed. With tables it takes the
// action tried least often in the present state.
var CountBonus Kind = countBonusKind{named: named{"count-bonus", "the optimal policy for a bonus for rarely tried actions, without rewards"}}

type countBonusKind struct {
	named
	uninformed
}

func (k countBonusKind) FromModels(b *Belief) error {
	pi, err := b.OptimalWithBonus(k, b.Visits.CountBonus(1), true)
	if err == nil {
		b.Uninformed(Candidate{Arm: Arm{Name: k.String()}, Policy: pi})
	}
	return err
}

func (k countBonusKind) Prepare(t *Tables) error { return t.NeedVisits(k) }

func (k countBonusKind) FromTables(t *Tables) { t.Uninformed(k.String(), k.Action(t)) }

func (countBonusKind) Action(t *Tables) int {
	visits, s := t.agent.Visits()
	best := 0
	for a := range t.Actions() {
		if visits.Count(s, a) < visits.Count(s, best) {
			best = a
		}
	}
	return best
}

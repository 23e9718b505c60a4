package options

// Untried is the quickest way to a pair that has never been tried. It is optimal for a
// reward of 1 at such pairs and nothing else. This is the attempted exploration of E³
// (Kearns & Singh 2002) with pairs known after one try. It is uninformed. With tables
// it takes an action never taken in the present state, the greedy one if there is none.
var Untried Kind = untriedKind{named: named{"untried", "the quickest way to an action never tried (attempted exploration of E³)"}}

type untriedKind struct {
	named
	uninformed
}

func (k untriedKind) FromModels(b *Belief) error {
	pi, err := b.OptimalWithBonus(k, b.Visits.untried, true)
	if err == nil {
		b.Uninformed(Candidate{Arm: Arm{Name: k.String()}, Policy: pi})
	}
	return err
}

// untried is the bonus of a pair that was never tried, 1.
func (v *Visits) untried(s, a int) float64 {
	if v.Count(s, a) > 0 {
		return 0
	}
	return 1
}

func (k untriedKind) Prepare(t *Tables) error { return t.NeedVisits(k) }

func (k untriedKind) FromTables(t *Tables) { t.Uninformed(k.String(), k.Action(t)) }

func (untriedKind) Action(t *Tables) int {
	visits, s := t.agent.Visits()
	for a := range t.Actions() {
		if visits.Count(s, a) == 0 {
			return a
		}
	}
	return t.agent.Greedy()
}

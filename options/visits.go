package options

import (
	"fmt"
	"math"

	"github.com/rlrun/rlrun/mdp"
)

// Visits records how often and when the pairs of a process were tried. Bonuses
// for exploring are computed from it.
type Visits struct {
	states, actions int
	now             int
	count, last     []int
}

// NewVisits returns a record without visits, for the given numbers of states and
// actions. It returns an error if one of them is not positive.
func NewVisits(states, actions int) (*Visits, error) {
	if states < 1 || actions < 1 || states > math.MaxInt32/actions {
		return nil, fmt.Errorf("options: no visits of %d states with %d actions", states, actions)
	}
	n := states * actions
	return &Visits{states: states, actions: actions, count: make([]int, n), last: make([]int, n)}, nil
}

// Forget removes all visits.
func (v *Visits) Forget() {
	v.now = 0
	clear(v.count)
	clear(v.last)
}

// Update records that action a was taken in s.
func (v *Visits) Update(s, a int) {
	v.now++
	v.count[s*v.actions+a]++
	v.last[s*v.actions+a] = v.now
}

// Count returns how often a was taken in s.
func (v *Visits) Count(s, a int) int { return v.count[s*v.actions+a] }

// Age returns the number of steps since a was last taken in s, or since the
// beginning if it never was.
func (v *Visits) Age(s, a int) int { return v.now - v.last[s*v.actions+a] }

// RecencyBonus is the bonus κ√τ of Dyna-Q+ for a pair that has not been tried for τ
// steps (Sutton 1990; Sutton & Barto 2018, §8.3).
func (v *Visits) RecencyBonus(kappa float64) func(s, a int) float64 {
	return func(s, a int) float64 { return kappa * math.Sqrt(float64(v.Age(s, a))) }
}

// CountBonus is the bonus β/√n of a pair tried n times, β if it never was (MBIE-EB;
// Strehl & Littman 2008).
func (v *Visits) CountBonus(beta float64) func(s, a int) float64 {
	return func(s, a int) float64 { return beta / math.Sqrt(float64(max(v.Count(s, a), 1))) }
}

// addBonus returns the model with a bonus added to its rewards or, with alone,
// in their place.
func addBonus(m mdp.Model, bonus func(s, a int) float64, alone bool) (*mdp.Tabular, error) {
	d := mdp.Definition{States: m.NumStates(), Actions: m.NumActions()}
	return mdp.Generate(d, func(s, a int, row *mdp.Row) {
		next, prob := m.Transition(s, a)
		for i, t := range next {
			row.Add(int(t), prob[i])
		}
		reward := bonus(s, a)
		if !alone {
			reward += m.Reward(s, a)
		}
		row.Reward(reward)
	})
}

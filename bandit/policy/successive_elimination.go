package policy

import (
	"math"
	"math/rand/v2"
)

// SuccessiveElimination pulls the remaining arms in turn. After t pulls of each it drops the arms whose
// mean reward lies 2α_t or more below the largest (Even-Dar, Mannor & Mansour 2006).
// α_t = √(ln(5nt²/δ)/t) is their value for unknown means, with c = 5. With probability 1−δ the best
// arm survives. With an accuracy ε it stops once 2α_t ≤ ε, and the arm is then ε-close to the best.
type SuccessiveElimination struct {
	Accuracy *float64 `json:"accuracy,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"epsilon, the accepted distance from the best arm, as a share of the range of rewards. Default: it goes on until one arm is left, as in Even-Dar, Mannor & Mansour (2006)."`
	Failure  *float64 `json:"failure,omitempty" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1,default=0.05" jsonschema_description:"delta, the accepted probability of failure; a choice of ours."`
}

func (p SuccessiveElimination) build(t *setting) (maker, error) {
	width, err := t.width()
	accuracy := or(p.Accuracy, 0)
	return func(beliefs) Policy { return newSuccessiveElimination(t.Arms, t.Low, width, *p.Failure, accuracy) }, err
}

type successiveElimination struct {
	elimination
	arms              float64
	failure, accuracy float64 // δ, ε
}

func newSuccessiveElimination(n int, low, width, failure, accuracy float64) *successiveElimination {
	s := &successiveElimination{newElimination(n, low, width), float64(n), failure, accuracy}
	s.quota = 1
	return s
}

func (s *successiveElimination) Update(arm int, reward float64, _ *rand.Rand) {
	if !s.add(arm, reward) {
		return
	}
	t := float64(s.quota)
	alpha := math.Sqrt(math.Log(5*s.arms*t*t/s.failure) / t)
	best := s.best()
	top := s.mean(best)
	if settled := 2*alpha <= s.accuracy; settled {
		s.keep(func(place int) bool { return place == best })
	} else {
		s.keep(func(place int) bool { return top-s.mean(place) < 2*alpha })
	}
	s.quota++
}

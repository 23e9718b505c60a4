package tabularagents

import (
	"math"

	"github.com/rlrun/rlrun/plugins/internal/finite"
)

// visits are how often and when pairs were tried.
type visits struct {
	actions     int
	kappa       float64
	now         float64
	count, last []float64
}

// newVisits returns the memory of a run in a task. kappa is κ of overdue.
func newVisits(t finite.Task, kappa float64) *visits {
	pairs := t.States * t.Actions
	return &visits{actions: t.Actions, kappa: kappa, count: make([]float64, pairs), last: make([]float64, pairs)}
}

func (v *visits) forget() {
	v.now = 0
	clear(v.count)
	clear(v.last)
}

func (v *visits) update(pair int) {
	v.now++
	v.count[pair]++
	v.last[pair] = v.now
}

// rarest returns the action tried least often in s, the first of equal ones.
func (v *visits) rarest(s int) int {
	best := 0
	for a := range v.actions {
		if v.count[s*v.actions+a] < v.count[s*v.actions+best] {
			best = a
		}
	}
	return best
}

// overdue returns the action of the largest value plus κ√τ, τ being the steps
// since it was last taken in s (Sutton & Barto 2018, exercise 8.4).
func (v *visits) overdue(s int, values []float64) int {
	best, action := math.Inf(-1), 0
	for a, q := range values {
		if q += v.kappa * math.Sqrt(v.now-v.last[s*v.actions+a]); q > best {
			best, action = q, a
		}
	}
	return action
}

package tabularagents

import (
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/options"
)

// estimates are what options made of tables go by.
type estimates interface {
	// means returns the mean values of actions in s.
	means(s int) []float64
	// greedy returns the action of the largest of them.
	greedy(s int) int
	// prefers returns the action that a member prefers in s.
	prefers(member, s int) int
}

// follower acts by the option that the host chose, if it chose one.
type follower struct {
	estimates
	active   bool
	option   options.TableOption
	begun    bool // an action was taken
	visits   *visits
	duration *rand.Zipf // of repeated actions, less one; nil unless they are offered
	repeat   uint64     // steps for which Of is still to be repeated
	actions  int
	rng      *rand.Rand
}

// offer prepares for kinds of options. overdue is κ of Overdue.
func (x *follower) offer(kinds []options.Kind, t task, overdue float64) {
	for _, k := range kinds {
		switch k {
		case options.Overdue, options.Novelty:
			x.visits = &visits{actions: t.actions, kappa: overdue, count: make([]float64, t.states*t.actions), last: make([]float64, t.states*t.actions)}
		case options.Repeats:
			x.duration = rand.NewZipf(x.rng, repeatExponent, 1, repeatLongest-1)
		}
	}
}

// Of repeated actions, as in options.ReduceOptions: the exponent is that of
// Dabney, Ostrovski & Barreto (2021).
const (
	repeatExponent = 2
	repeatLongest  = 100
)

func (x *follower) start() {
	x.active = false
	if x.visits != nil {
		x.visits.forget()
	}
}

// follow follows an option from now on.
func (x *follower) follow(o options.TableOption) {
	x.option, x.active, x.begun, x.repeat = o, true, false, 0
}

// member returns the member that is followed, -1 if none is.
func (x *follower) member() int {
	if x.active && x.option.Kind == options.Members {
		return x.option.Of
	}
	return -1
}

// action returns the option's action in s.
func (x *follower) action(s int) int {
	first := !x.begun
	x.begun = true
	switch x.option.Kind {
	case options.Members:
		return x.prefers(x.option.Of, s)
	case options.Constants:
		return x.option.Of
	case options.Deviations:
		if first {
			return x.option.Of
		}
	case options.Uniform:
		return x.rng.IntN(x.actions)
	case options.Repeats:
		if x.repeat == 0 {
			x.option.Of, x.repeat = x.rng.IntN(x.actions), x.duration.Uint64()+1
		}
		x.repeat--
		return x.option.Of
	case options.Overdue:
		return x.visits.overdue(s, x.means(s))
	case options.Novelty:
		return x.visits.rarest(s)
	}
	return x.greedy(s)
}

// visits are how often and when pairs were tried.
type visits struct {
	actions     int
	kappa       float64
	now         float64
	count, last []float64
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

package options

import (
	"fmt"
	"math"
	"slices"

	"github.com/rlrun/rlrun/bandit"
)

// Score is how the options of a decision are compared (docs/theory.md §3.4).
type Score int

const (
	// Paired compares each option with the greedy one model by model: what is good
	// for one is often good for the other, too.
	Paired Score = iota
	// MeanValue compares each option with the mean value of the greedy one, as the
	// paper does (Algorithm 1).
	MeanValue
	// Index compares the indices of all options, the greedy one's among them, which
	// respects that the greedy value is uncertain but not that values go together.
	Index
	// Stochastic draws a member for each option and compares by that (Algorithm 2).
	Stochastic
	// Never stays with the greedy option.
	Never
)

var scores = []string{"paired", "mean", "index", "stochastic", "never"}

// String returns the score's name, as in configurations.
func (s Score) String() string {
	if s < 0 || int(s) >= len(scores) {
		return fmt.Sprintf("Score(%d)", int(s))
	}
	return scores[s]
}

// ParseScore reads the name that String gives.
func ParseScore(name string) (Score, error) {
	s := slices.Index(scores, name)
	if s < 0 {
		return 0, fmt.Errorf("unknown score %q (one of %v)", name, scores)
	}
	return Score(s), nil
}

// Rule says how to decide between options.
type Rule struct {
	// Horizon counts steps, not windows.
	Horizon bandit.Horizon
	Score   Score
	// Kind is the bound on what exploring is worth: U, UPlus or V. Stochastic knows
	// U only. An uninformed option has no U, and gets UPlus in its place.
	Kind bandit.IndexKind
	// LowerBound is b, below which no value can lie; U needs it.
	LowerBound float64
	// Common lets Stochastic draw one member for all options, that is one model,
	// instead of one each.
	Common bool
}

func (r *Rule) check() error {
	switch {
	case r.Score < Paired || r.Score > Never:
		return fmt.Errorf("options: unknown score %d", int(r.Score))
	case r.Kind < bandit.U || r.Kind > bandit.V:
		return fmt.Errorf("options: unknown index %d", int(r.Kind))
	case math.IsNaN(r.LowerBound) || math.IsInf(r.LowerBound, 0):
		return fmt.Errorf("options: the lower bound of values is %v", r.LowerBound)
	case r.Common && r.Score != Stochastic:
		return fmt.Errorf("options: the score %s draws no member, so that none can be common", r.Score)
	case r.Score == Stochastic && r.Kind != bandit.U:
		return fmt.Errorf("options: the score %s has no index %s", r.Score, r.Kind)
	}
	return nil
}

// Problem is one decision: what is believed about the options, and when.
type Problem struct {
	Arms   []Arm
	Greedy int // which of them is the greedy option
	// Values holds the values of the options in K equally likely models, option by
	// option: Values[x*K+k].
	Values []float64
	// Optimal holds v*_k, the optimal values in the K models; needed if there are
	// uninformed options.
	Optimal []float64
	// Step is the number of steps before the decision, which the horizon has lost.
	Step int
	// Hold is T ≥ 1, the number of steps for which an option is held.
	Hold int
	// Charge is the number of steps that count as exploration, if other than Hold:
	// the option's own duration and the return to the greedy policy.
	Charge int
	// Capped says that the estimate of T exceeds what it may be; it is passed on.
	Capped bool
}

// size returns K.
func (p *Problem) size() int { return len(p.Values) / len(p.Arms) }

// row returns the values of option x.
func (p *Problem) row(x int) []float64 {
	k := p.size()
	return p.Values[x*k : (x+1)*k]
}

// Check returns an error unless the problem is complete and its numbers are
// finite. Decisions are refused if it does.
func (p *Problem) Check() error {
	n := len(p.Arms)
	switch {
	case n == 0 || p.Greedy < 0 || p.Greedy >= n:
		return fmt.Errorf("options: the greedy option is number %d of %d", p.Greedy, n)
	case len(p.Values) == 0 || len(p.Values)%n != 0:
		return fmt.Errorf("options: %d values for %d options are not as many for each", len(p.Values), n)
	case p.Hold < 1 || p.Charge < 0 || p.Step < 0:
		return fmt.Errorf("options: no option is held for %d steps, charged as %d, after step %d", p.Hold, p.Charge, p.Step)
	case p.Arms[p.Greedy].Class != Directed:
		return fmt.Errorf("options: the greedy option %s is uninformed", p.Arms[p.Greedy].Name)
	}
	k := p.size()
	for i, v := range p.Values {
		if v-v != 0 { // true of NaN and infinities alone
			return fmt.Errorf("options: the value of option %s in model %d is %v", p.Arms[i/k].Name, i%k, v)
		}
	}
	for _, a := range p.Arms {
		if a.Class != Uninformed {
			continue
		}
		if !(a.Reveal >= 0 && a.Reveal <= 1) {
			return fmt.Errorf("options: option %s reveals the model with probability %v", a.Name, a.Reveal)
		}
		if len(p.Optimal) != k {
			return fmt.Errorf("options: option %s needs the optimal values of %d models, not of %d", a.Name, k, len(p.Optimal))
		}
	}
	for i, v := range p.Optimal {
		if v-v != 0 {
			return fmt.Errorf("options: the optimal value in model %d is %v", i, v)
		}
	}
	return nil
}

// Decision is one choice between exploring and exploiting, for a log: the terms of
// the comparison (docs/theory.md §1.4, §3.2) and what was chosen.
type Decision struct {
	Step    int    // steps taken before the decision
	Choice  int    // the option chosen, by number
	Option  string // and by name
	Explore bool   // whether it is another than the greedy one
	Hold    int    // T, steps for which it is held
	Capped  bool   // T is shorter than its estimate asks for
	// The best of the other options has the advantage, per unit of the horizon's
	// weight (for Index: the lead of its index over the greedy one's), with the
	// improvement δ hoped for and the probability P that it is at least that. An
	// advantage that exceeds zero, by more than rounding, explores. Delta and P are
	// zero if nothing can be better, and Advantage is zero if nothing was compared.
	Delta, P, Advantage float64
	Share               float64 // ρ, the share of the horizon that exploring takes
}

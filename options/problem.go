package options

import (
	"fmt"
	"math"
	"slices"
)

// Problem is one decision: what is believed about the options, and when.
type Problem struct {
	Arms   []Arm // the options, one of them greedy
	Greedy int   // which of them is the greedy option
	// Values holds the values of the options in K equally likely models, option by
	// option: Values[x*K+k].
	Values []float64
	// Optimal holds v*_k, the optimal values in the K models; needed if there are
	// uninformed options.
	Optimal []float64
	// Pairs are options aimed at one state and action, which have no values in models:
	// only RuleGain decides between them. They are numbered after the arms: pair i is
	// option len(Arms)+i. With pairs and no other option than the greedy one, Values may
	// be empty.
	Pairs []Pair
	// Step is the number of steps before the decision, which the horizon has lost.
	Step int
	// Left is the number of rewards of a finite horizon that still count; 0: those after Step.
	Left int
	// Hold is T ≥ 1, the number of steps for which an option is held.
	Hold int
	// ExplorationCost is the number of steps that count as exploration, if other than Hold:
	// the option's own duration and the return to the greedy policy.
	ExplorationCost int
	// Least and Most bound the number of steps for which an option is held that has Steps of its
	// own, in place of Hold; 0 is no limit.
	Least, Most int
	// Doubt is 1−ζ in [0,1], where ζ is the share of the value of perfect information that a trial
	// is expected to yield (docs/theory.md §3.2). RuleCommonModel uses it with the bounds U⁺ and V.
	Doubt float64
	// Capped says that the estimate of T exceeds what it may be; it is passed on.
	Capped bool
	// Trials says of every arm what came of it in the run so far; nil if the rule does
	// not need it.
	Trials []Trial
}

// NumOptions returns the number of options: arms, and pairs after them.
func (p *Problem) NumOptions() int { return len(p.Arms) + len(p.Pairs) }

// Name returns the name of option x. The name of a pair is "pair" with its state
// and action.
func (p *Problem) Name(x int) string {
	if i := x - len(p.Arms); i >= 0 {
		return p.Pairs[i].name()
	}
	return p.Arms[x].Name
}

// hold returns the number of steps for which option x is held: what it asks for, or its expected
// duration, or else T.
func (p *Problem) hold(x int) int {
	own := p.Arms[x].Steps
	if p.Arms[x].Ends && own > 0 {
		return own
	}
	if own == 0 {
		return p.Hold
	}
	if p.Most > 0 {
		own = min(own, p.Most)
	}
	return max(own, p.Least)
}

// PerfectInformation returns what it is worth to know which of option x and the greedy one is
// better, E max(v(x),v(y)) − max(E v(x),E v(y)), per step.
func (p *Problem) PerfectInformation(x int) float64 {
	gain, cost, values := 0.0, 0.0, p.row(x)
	for k, v := range p.row(p.Greedy) {
		if d := values[k] - v; d > 0 {
			gain += d
		} else {
			cost -= d
		}
	}
	return min(gain, cost) / float64(len(values))
}

// cost returns the number of steps that count as exploration if option x is chosen.
func (p *Problem) cost(x int) int {
	if p.ExplorationCost == 0 {
		return p.hold(x)
	}
	return p.ExplorationCost - p.Hold + p.hold(x)
}

// Mean returns the mean value of option x over the members, 0 for a pair.
func (p *Problem) Mean(x int) float64 {
	if x >= len(p.Arms) || len(p.Values) == 0 {
		return 0
	}
	return mean(p.row(x))
}

// Leads returns by how much option x is better than the greedy one in each member; nil for a
// pair, or if x is negative.
func (p *Problem) Leads(x int) []float64 {
	if x < 0 || x >= len(p.Arms) {
		return nil
	}
	leads := slices.Clone(p.row(x))
	for k, v := range p.row(p.Greedy) {
		leads[k] -= v
	}
	return leads
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
	_, err := p.check()
	return err
}

// check is Check. It also returns the largest size of a value.
func (p *Problem) check() (size float64, err error) {
	size = largestSize(p.Values)
	return size, p.checkAll(size-size == 0)
}

// largestSize returns the largest size of a value. It is not finite if one is not.
func largestSize(values []float64) float64 {
	var a, b uint64 // of two sequences, to be quicker; a larger size has larger bits
	for ; len(values) >= 2; values = values[2:] {
		a, b = max(a, math.Float64bits(values[0])<<1), max(b, math.Float64bits(values[1])<<1)
	}
	for _, v := range values {
		a = max(a, math.Float64bits(v)<<1)
	}
	return math.Float64frombits(max(a, b) >> 1)
}

func (p *Problem) checkAll(finite bool) error {
	n := len(p.Arms)
	switch {
	case n == 0 || p.Greedy < 0 || p.Greedy >= n:
		return fmt.Errorf("options: the greedy option is number %d of %d", p.Greedy, n)
	case len(p.Values) == 0 && (n > 1 || len(p.Pairs) == 0) || len(p.Values)%n != 0:
		return fmt.Errorf("options: %d values for %d options are not as many for each", len(p.Values), n)
	case !(p.Doubt >= 0 && p.Doubt <= 1):
		return fmt.Errorf("options: the doubt is %v, must be in [0,1]", p.Doubt)
	case p.Hold < 1 || p.ExplorationCost < 0 || p.Step < 0 || p.Left < 0:
		return fmt.Errorf("options: no option is held for %d steps, charged as %d, after step %d", p.Hold, p.ExplorationCost, p.Step)
	case p.Arms[p.Greedy].Class != Directed:
		return fmt.Errorf("options: the greedy option %s is uninformed", p.Arms[p.Greedy].Name)
	}
	k := p.size()
	for i, v := range p.Values {
		if finite {
			break
		}
		if v-v != 0 { // true of NaN and infinities alone
			return fmt.Errorf("options: the value of option %s in model %d is %v", p.Arms[i/k].Name, i%k, v)
		}
	}
	for i := range p.Arms {
		a := &p.Arms[i]
		if a.Steps < 0 || a.Steps > math.MaxInt32 {
			return fmt.Errorf("options: option %s is to be held for %d steps", a.Name, a.Steps)
		}
		if a.Class != Uninformed {
			continue
		}
		if !(a.RevealProbability >= 0 && a.RevealProbability <= 1) {
			return fmt.Errorf("options: option %s reveals the model with probability %v", a.Name, a.RevealProbability)
		}
		if len(p.Optimal) != k {
			return fmt.Errorf("options: option %s needs the optimal values of %d models, not of %d", a.Name, k, len(p.Optimal))
		}
	}
	for i, x := range p.Pairs {
		if x.State < 0 || x.Action < 0 || x.Gain-x.Gain != 0 || x.Cost-x.Cost != 0 || !(x.Steps >= 1 && x.Steps <= math.MaxInt32) {
			return fmt.Errorf("options: pair %d, of state %d and action %d, has gain %v, cost %v and %v steps; gain and cost must be finite, and steps at least 1",
				i, x.State, x.Action, x.Gain, x.Cost, x.Steps)
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
	Option  string // and by name; empty for a pair, whose name Problem.Name makes
	Explore bool   // whether it is another than the greedy one
	Hold    int    // T, steps for which it is held
	Capped  bool   // T is shorter than its estimate asks for
	// The best of the other options, and its advantage per unit of the horizon's
	// weight (for RuleIndex: the lead of its index over the greedy one's). Delta is
	// the improvement δ hoped for, and P the probability that the improvement is at
	// least δ. An advantage above zero explores. One that rounding alone may have
	// made is zero. Delta and P are zero if nothing can be better, and Advantage is
	// zero if nothing was compared.
	//
	// Of a pair, Delta is the gain, P is 1, and Advantage is the gain less the cost, as
	// sums of rewards; Hold is the expected number of steps, rounded up.
	Delta, P, Advantage float64
	Share               float64 // ρ, the share of the horizon that exploring takes
	Other               int     // number of that best other option, −1 if nothing was compared
}

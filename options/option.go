package options

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/rlrun/rlrun/mdp"
)

// Option is a temporally extended action ⟨I, π, β⟩ (Sutton, Precup & Singh 1999). Policy and
// termination depend on the present state and, in a semi-Markov option, on the number of steps
// since its initiation.
type Option interface {
	// Initiates reports whether the option may be started in s: s ∈ I.
	Initiates(s int) bool
	// Distribution writes π(·|s) into dst, which has one place per action, for
	// the action taken elapsed ≥ 0 steps after the initiation.
	Distribution(dst []float64, s, elapsed int)
	// Termination returns β, the probability in [0,1] of ending on arrival in s,
	// elapsed ≥ 1 steps after the initiation.
	Termination(s, elapsed int) float64
	// Stages returns the time from which on neither of the two depends on elapsed
	// any more: 0 for a Markov option.
	Stages() int
}

// Markov is an option whose policy and termination depend on the state only.
type Markov struct {
	Initiation []bool     // I, by state; nil for all states
	Policy     mdp.Policy // π
	End        []float64  // β, by state; nil for never
}

// Initiates implements Option.
func (o Markov) Initiates(s int) bool { return o.Initiation == nil || o.Initiation[s] }

// Distribution implements Option.
func (o Markov) Distribution(dst []float64, s, _ int) { o.Policy.Distribution(dst, s) }

// Termination implements Option.
func (o Markov) Termination(s, _ int) float64 {
	if o.End == nil {
		return 0
	}
	return o.End[s]
}

// Stages implements Option.
func (Markov) Stages() int { return 0 }

// Deviation is the option of taking one action first and following a policy
// thereafter, without end.
type Deviation struct {
	Action int        // the first one
	Then   mdp.Policy // policy after it
}

// Initiates implements Option.
func (Deviation) Initiates(int) bool { return true }

// Distribution implements Option.
func (o Deviation) Distribution(dst []float64, s, elapsed int) {
	if elapsed == 0 {
		mdp.Deterministic{o.Action}.Distribution(dst, 0)
		return
	}
	o.Then.Distribution(dst, s)
}

// Termination implements Option.
func (Deviation) Termination(int, int) float64 { return 0 }

// Stages implements Option.
func (Deviation) Stages() int { return 1 }

// Repeat is the option of repeating one action for a random number of steps n
// with P(n) ∝ n^−exponent, 1 ≤ n ≤ longest. This is the truncated zeta
// distribution of εz-greedy (Dabney, Ostrovski & Barreto 2021).
type Repeat struct {
	action int
	end    []float64 // end[k-1] = P(n = k | n ≥ k)
}

// newRepeat returns the option for an action, a finite exponent ≥ 0 and a longest
// duration ≥ 1. Dabney et al. use exponent 2.
func newRepeat(action int, exponent float64, longest int) *Repeat {
	o := &Repeat{action, make([]float64, longest)}
	rest := 0.0
	for k := longest; k >= 1; k-- { // the small terms first
		p := math.Pow(float64(k), -exponent)
		rest += p
		o.end[k-1] = p / rest
	}
	return o
}

// Initiates implements Option.
func (*Repeat) Initiates(int) bool { return true }

// Distribution implements Option.
func (o *Repeat) Distribution(dst []float64, _, _ int) {
	mdp.Deterministic{o.action}.Distribution(dst, 0)
}

// Termination implements Option.
func (o *Repeat) Termination(_, elapsed int) float64 {
	return o.end[min(elapsed, len(o.end))-1]
}

// Stages implements Option.
func (o *Repeat) Stages() int { return len(o.end) }

var (
	_ Option = Markov{}
	_ Option = Deviation{}
	_ Option = (*Repeat)(nil)
)

// Execution is an option being followed.
type Execution struct {
	Option  Option // that is followed
	Elapsed int    // steps since it was started
}

// Start starts an option in s. The option must initiate there.
func Start(o Option, s int) Execution {
	if !o.Initiates(s) {
		panic("options: the option does not initiate in this state")
	}
	return Execution{Option: o}
}

// SelectAction draws an action in s; scratch has one place per action. It takes
// one draw from rng unless the action is certain.
func (e *Execution) SelectAction(s int, scratch []float64, rng *rand.Rand) int {
	e.Option.Distribution(scratch, s, e.Elapsed)
	if a := slices.Index(scratch, 1); a >= 0 {
		return a
	}
	return draw(scratch, rng)
}

// draw draws an index by its probability. They sum to one but for rounding.
func draw(prob []float64, rng *rand.Rand) int {
	u, last := rng.Float64(), 0
	for a, p := range prob {
		if p > 0 {
			last = a
		}
		if u -= p; u < 0 {
			return a
		}
	}
	return last
}

// Step records that the last action led to next and reports whether the option ends there. It
// takes a draw from rng only if that is uncertain.
func (e *Execution) Step(next int, rng *rand.Rand) (ended bool) {
	e.Elapsed++
	p := e.Option.Termination(next, e.Elapsed)
	return p >= 1 || p > 0 && rng.Float64() < p
}

package options

import (
	"fmt"
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

// Primitive is the option of taking one action once, anywhere.
type Primitive int

// Initiates implements Option.
func (Primitive) Initiates(int) bool { return true }

// Distribution implements Option.
func (a Primitive) Distribution(dst []float64, _, _ int) { certain(dst, int(a)) }

// Termination implements Option.
func (Primitive) Termination(int, int) float64 { return 1 }

// Stages implements Option.
func (Primitive) Stages() int { return 0 }

func certain(dst []float64, a int) {
	clear(dst)
	if a >= 0 && a < len(dst) {
		dst[a] = 1
	} // otherwise all zero, which NewModel reports
}

// Timeout is an option that ends after a number of steps if it has not before.
// It is semi-Markov: its termination depends on the time since the initiation.
type Timeout struct {
	Option
	Steps int // ≥ 1
}

// Hold is the option of following a stationary policy, from anywhere, for a
// number of steps ≥ 1.
func Hold(pi mdp.Policy, steps int) Option { return Timeout{Markov{Policy: pi}, steps} }

// Termination implements Option.
func (o Timeout) Termination(s, elapsed int) float64 {
	if elapsed >= o.Steps {
		return 1
	}
	return o.Option.Termination(s, elapsed)
}

// Stages implements Option.
func (o Timeout) Stages() int { return o.Steps }

// Deviation is the option of taking one action first and following a policy
// thereafter, without end: hold it with Timeout.
type Deviation struct {
	Action int        // the first one
	Then   mdp.Policy // policy after it
}

// Initiates implements Option.
func (Deviation) Initiates(int) bool { return true }

// Distribution implements Option.
func (o Deviation) Distribution(dst []float64, s, elapsed int) {
	if elapsed == 0 {
		certain(dst, o.Action)
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
func newRepeat(action int, exponent float64, longest int) (*Repeat, error) {
	if action < 0 || longest < 1 || !(exponent >= 0) || math.IsInf(exponent, 1) {
		return nil, fmt.Errorf("options: no action %d is repeated up to %d times with exponent %v", action, longest, exponent)
	}
	o := &Repeat{action, make([]float64, longest)}
	rest := 0.0
	for k := longest; k >= 1; k-- { // the small terms first
		p := math.Pow(float64(k), -exponent)
		rest += p
		o.end[k-1] = p / rest
	}
	return o, nil
}

// Initiates implements Option.
func (*Repeat) Initiates(int) bool { return true }

// Distribution implements Option.
func (o *Repeat) Distribution(dst []float64, _, _ int) { certain(dst, o.action) }

// Termination implements Option.
func (o *Repeat) Termination(_, elapsed int) float64 {
	return o.end[min(elapsed, len(o.end))-1]
}

// Stages implements Option.
func (o *Repeat) Stages() int { return len(o.end) }

var (
	_ Option = Markov{}
	_ Option = Primitive(0)
	_ Option = Timeout{}
	_ Option = Deviation{}
	_ Option = (*Repeat)(nil)
)

// Execution is an option being followed, with what an SMDP learner needs to know
// of it afterwards.
type Execution struct {
	Option  Option  // that is followed
	Origin  int     // the state in which it was started
	Elapsed int     // steps since
	Return  float64 // Σ_t γ^t r over them
	Factor  float64 // γ^Elapsed

	gamma float64
}

// Start starts an option in s, with the discount γ in [0,1] for its return. The
// option must initiate there.
func Start(o Option, s int, gamma float64) Execution {
	if !o.Initiates(s) {
		panic("options: the option does not initiate in this state")
	}
	return Execution{Option: o, Origin: s, Factor: 1, gamma: gamma}
}

// SelectAction draws an action in s; scratch has one place per action. It takes
// one draw from rng unless the action is certain.
func (e *Execution) SelectAction(s int, scratch []float64, rng *rand.Rand) int {
	e.Option.Distribution(scratch, s, e.Elapsed)
	if a := slices.Index(scratch, 1); a >= 0 {
		return a
	}
	u, last := rng.Float64(), 0
	for a, p := range scratch {
		if p > 0 {
			last = a
		}
		if u -= p; u < 0 {
			return a
		}
	}
	return last // the probabilities sum to one but for rounding
}

// Step learns from the reward and next state of the last action and reports whether
// the option ends there. It takes a draw from rng only if that is uncertain.
func (e *Execution) Step(reward float64, next int, rng *rand.Rand) (ended bool) {
	e.Elapsed++
	e.Return += e.Factor * reward
	e.Factor *= e.gamma
	p := e.Option.Termination(next, e.Elapsed)
	return p >= 1 || p > 0 && rng.Float64() < p
}

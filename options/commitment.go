package options

import (
	"math"

	"github.com/rlrun/rlrun/mdp"
)

// Commitment is for how long an option is held.
type Commitment struct {
	Steps int // T ≥ 1
	// Mixing is the estimate of T_ε that T comes from: mdp.Never if a deviation
	// from the greedy policy may never be forgotten, 0 if there is none.
	Mixing          int
	Capped          bool // the cap is active: T is shorter than the estimate asks for
	ExplorationCost int  // steps that count as exploration, if other than Steps
	// Low and High are the ends of an interval for T_ε, if the estimate has one.
	Low, High int `json:",omitempty"`
}

// CommitmentConfig says how T follows from the exploration mixing time T_ε of the
// greedy policy (docs/theory.md §3.2). The zero value is useful.
type CommitmentConfig struct {
	Fixed  int              // if positive, T itself: nothing is estimated
	Floor  int              // least T; default 1
	Cap    int              // largest T; default 1000
	Scale  float64          // T is the estimate times this, rounded up; default 1
	Mixing mdp.MixingConfig // which deviations count as forgotten
	// Return charges exploring with the return to the greedy policy, too: T + T_ε steps,
	// T_ε within floor and cap. Without an estimate, if T is Fixed, it has no effect.
	Return bool
}

// Commitment returns T for an exploration mixing time, which may be mdp.Never; 0 says
// that nothing is known yet, and gives the floor.
func (o CommitmentConfig) Commitment(mixing int) Commitment {
	if o.Fixed > 0 {
		return Commitment{Steps: o.Fixed}
	}
	w := o.held(mixing, o.Scale)
	if o.Return {
		w.ExplorationCost = w.Steps + o.held(mixing, 1).Steps
	}
	return w
}

// Most is the largest number of steps for which an option is held: the cap, or T itself if
// that is fixed.
func (o CommitmentConfig) Most() int {
	switch {
	case o.Fixed > 0:
		return o.Fixed
	case o.Cap > 0:
		return max(o.Cap, o.Floor)
	}
	return max(1000, o.Floor)
}

// held is Commitment for a scale of its own, without the return.
func (o CommitmentConfig) held(mixing int, scale float64) Commitment {
	o.Floor, o.Cap = max(o.Floor, 1), o.Most()
	if !(scale > 0) {
		scale = 1
	}
	w := Commitment{Steps: o.Cap, Mixing: mixing, Capped: true}
	if mixing == mdp.Never {
		return w
	}
	if t := math.Ceil(scale * float64(mixing)); t <= float64(o.Cap) {
		w.Steps, w.Capped = max(int(t), o.Floor), false
	}
	return w
}

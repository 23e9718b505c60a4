package opinions

import (
	"math/rand/v2"

	"github.com/rlrun/rlrun/options"
)

// Estimates are what a follower goes by, where the agent is.
type Estimates interface {
	// Greedy returns the action of the largest mean value.
	Greedy() int
	// Prefers returns the action that a member prefers.
	Prefers(member int) int
	// Bonus returns the action of an option of kind Overdue or Novelty, if those
	// are offered.
	Bonus(k options.Kind) int
}

// Follower follows a member that it draws now and then or, once the host has chosen
// one in a run, an option.
type Follower struct {
	estimates        Estimates
	rng              *rand.Rand
	members, actions int
	discount         float64
	thompson         bool // a member is followed
	geometric        bool // for as long as a discounted step counts
	drawn            int  // the member; -1 if none is

	hosted   bool // the host has chosen
	option   options.TableOption
	begun    bool       // an action was taken by it
	duration *rand.Zipf // of repeated actions, less one; nil unless they are offered
	repeat   uint64     // steps for which Of is still to be repeated
}

// NewFollower returns a follower for an agent of members, in a task of actions that
// continues or does not. It draws from rng.
func NewFollower(p *Params, e Estimates, members, actions int, discount float64, continuing bool, rng *rand.Rand) Follower {
	return Follower{
		estimates: e, rng: rng, members: members, actions: actions, discount: discount, drawn: -1,
		thompson:  p.Behaviour == "thompson",
		geometric: p.Redraw == "geometric" || p.Redraw == "auto" && continuing,
	}
}

// Of repeated actions, as in options.ReduceOptions: the exponent is that of
// Dabney, Ostrovski & Barreto (2021).
const (
	repeatExponent = 2
	repeatLongest  = 100
)

// offer prepares for a kind of options.
func (x *Follower) offer(k options.Kind) {
	if k == options.Repeats {
		x.duration = rand.NewZipf(x.rng, repeatExponent, 1, repeatLongest-1)
	}
}

// Start begins a run, without an option.
func (x *Follower) Start() { x.hosted, x.drawn = false, -1 }

// Begin begins an episode.
func (x *Follower) Begin() {
	if x.thompson && !x.hosted {
		x.draw()
	}
}

// Advance takes in that a step was made, within an episode.
func (x *Follower) Advance() {
	if x.geometric && x.thompson && !x.hosted && x.rng.Float64() >= x.discount {
		x.draw()
	}
}

func (x *Follower) draw() { x.drawn = x.rng.IntN(x.members) }

// Hosted reports whether the follower follows an option.
func (x *Follower) Hosted() bool { return x.hosted }

// Member returns the member that is followed, -1 if none is.
func (x *Follower) Member() int {
	switch {
	case !x.hosted:
		return x.drawn
	case x.option.Kind == options.Members:
		return x.option.Of
	}
	return -1
}

// Follow follows an option from now on.
func (x *Follower) Follow(o options.TableOption) {
	x.option, x.hosted, x.begun, x.repeat = o, true, false, 0
}

// Action returns the option's action.
func (x *Follower) Action() int {
	first := !x.begun
	x.begun = true
	switch x.option.Kind {
	case options.Members:
		return x.estimates.Prefers(x.option.Of)
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
	case options.Overdue, options.Novelty:
		return x.estimates.Bonus(x.option.Kind)
	}
	return x.estimates.Greedy()
}

package opinions

import (
	"math/rand/v2"

	"github.com/rlrun/rlrun/options"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// Follower follows a member that it draws now and then or, once the host has chosen
// one in a run, an option of tables.
type Follower struct {
	*options.Tables // of the host's options; nil before they are set
	rng             *rand.Rand
	members         int
	discount        float64
	thompson        bool // a member is followed
	geometric       bool // for as long as a discounted step counts
	drawn           int  // the member; -1 if none is
	hosted          bool // the host has chosen
}

// NewFollower returns a follower for an agent of members, in a task that continues or
// does not. It draws from rng.
func NewFollower(p *Params, members int, discount float64, continuing bool, rng *rand.Rand) Follower {
	return Follower{
		rng: rng, members: members, discount: discount, drawn: -1,
		thompson:  p.Behaviour == "thompson",
		geometric: p.Redraw == "geometric" || p.Redraw == "auto" && continuing,
	}
}

// SetOptionKinds prepares tables for kinds of options of an agent with a number of
// actions. The errors wrap framework.ErrUnsupported.
func (x *Follower) SetOptionKinds(p *Params, kinds []options.Kind, actions int, kappa float64, visits bool) error {
	if x.discount == 1 {
		return lanes.Unsupported("there are no values per step to decide by when gamma is 1")
	}
	t, err := options.NewTables(actions, x.members, x.discount, options.TableConfig{
		Kinds: kinds, RevealProbability: p.Reveal, Policies: p.Values == "policies", Evaluated: p.Evaluated,
		Kappa: kappa, NoVisits: !visits, RNG: x.rng,
	})
	if err != nil {
		return lanes.Unsupported("%v", err)
	}
	x.Tables = t
	return nil
}

// Describe sets p to the problem where the agent is: see options.Tables.At.
func (x *Follower) Describe(p *options.Problem, q, e []float64, agent options.TableAgent) error {
	if x.Tables == nil {
		return lanes.Unsupported("no options have been offered")
	}
	return x.At(p, q, e, agent)
}

// Start begins a run, without an option.
func (x *Follower) Start() { x.hosted, x.drawn = false, -1 }

// Begin begins an episode.
func (x *Follower) Begin() {
	if x.thompson && !x.hosted {
		x.draw()
	}
}

// Advance records that a step was made within an episode.
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
	if !x.hosted {
		return x.drawn
	}
	if o := x.Following(); o.Kind == options.Members {
		return o.Of
	}
	return -1
}

// Follow follows an option of the last problem from now on.
func (x *Follower) Follow(option int) { x.FollowOption(x.Option(option)) }

// FollowOption follows an option from now on.
func (x *Follower) FollowOption(o options.TableOption) {
	x.Tables.FollowOption(o)
	x.hosted = true
}

package members

import (
	"math/rand/v2"

	"github.com/rlrun/rlrun/options"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// Executor follows a member that it draws now and then or, once the host has chosen
// one in a run, an option of tables.
type Executor struct {
	*options.Tables // of the host's options; nil before they are set
	rng             *rand.Rand
	members         int
	discount        float64
	thompson        bool // a member is followed
	geometric       bool // for as long as a discounted step counts
	member          int  // the one that is followed; -1 if none is
	hosted          bool // the host has chosen
}

// NewExecutor returns an executor for an agent of members, in a task that continues or
// does not. It draws from rng.
func NewExecutor(p *Params, members int, discount float64, continuing bool, rng *rand.Rand) Executor {
	return Executor{
		rng: rng, members: members, discount: discount, member: -1,
		thompson:  p.Behaviour == "thompson",
		geometric: p.Redraw == "geometric" || p.Redraw == "auto" && continuing,
	}
}

// SetOptionKinds prepares the tables of an agent with a number of actions. Options that act at
// random draw from the executor's stream. The errors wrap framework.ErrUnsupported.
func (x *Executor) SetOptionKinds(actions int, c options.TableConfig) error {
	if x.discount == 1 {
		return lanes.Unsupported("there are no values per step to decide by when gamma is 1")
	}
	c.RNG = x.rng
	t, err := options.NewTables(actions, x.members, x.discount, c)
	if err != nil {
		return lanes.Unsupported("%v", err)
	}
	x.Tables = t
	return nil
}

// Describe sets p to the problem where the agent is: see options.Tables.At.
func (x *Executor) Describe(p *options.Problem, q, e []float64, agent options.TableAgent) error {
	if x.Tables == nil {
		return lanes.Unsupported("no options have been offered")
	}
	return x.At(p, q, e, agent)
}

// DrawMember draws a member for the next decision, if one is to be offered.
func (x *Executor) DrawMember() {
	if x.Tables != nil {
		x.Tables.Draw()
	}
}

// HoldForGood asks to hold drawn members for 1/(1−γ) steps: a policy whose value is known only
// shows what it promises, in the mean, by a geometric time of this length (docs/theory.md §3.2).
func (x *Executor) HoldForGood(p *options.Problem) {
	for i := range p.Arms {
		if x.Option(i).Kind == options.DrawnMember {
			p.Arms[i].Steps = int(1/(1-x.discount) + 0.5)
		}
	}
}

// BeginRun begins a run, without an option.
func (x *Executor) BeginRun() { x.hosted, x.member = false, -1 }

// BeginEpisode begins an episode.
func (x *Executor) BeginEpisode() {
	if x.thompson && !x.hosted {
		x.draw()
	}
}

// Step records that a step was made within an episode.
func (x *Executor) Step() {
	if x.geometric && x.thompson && !x.hosted && x.rng.Float64() >= x.discount {
		x.draw()
	}
}

func (x *Executor) draw() { x.member = x.rng.IntN(x.members) }

// Hosted reports whether the executor follows an option.
func (x *Executor) Hosted() bool { return x.hosted }

// Member returns the member that is followed, -1 if none is.
func (x *Executor) Member() int { return x.member }

// Execute executes an option of the last problem from now on.
func (x *Executor) Execute(option int) { x.ExecuteOption(x.Option(option)) }

// ExecuteOption executes an option from now on.
func (x *Executor) ExecuteOption(o options.TableOption) {
	x.Tables.FollowOption(o)
	x.hosted, x.member = true, -1
	if o.Kind == options.Members || o.Kind == options.DrawnMember {
		x.member = o.Of
	}
}

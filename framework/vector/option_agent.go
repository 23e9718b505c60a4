package vector

import (
	"context"

	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/options"
)

// OptionAgent is an Agent whose exploration the host may take over. It
// describes the bandit over options that the reduction makes of a lane's state
// (docs/theory.md §3.4). The host decides, and the agent follows the chosen
// option until the host decides again. An agent that is only ever stepped by
// Step explores in its own way, if it has one, and is greedy otherwise.
//
// VectorizeAgent makes one of single agents that are Optioners. AgentAbilities.Options
// says whether an agent is one.
type OptionAgent interface {
	Agent
	// SetOptionKinds says which kinds of options the agent is to choose from; the greedy
	// one is always among them. It is called once, before the first step, by a
	// host that means to decide. Its error wraps ErrUnsupported for a kind that
	// the agent cannot make in its environment.
	SetOptionKinds(ctx context.Context, kinds []options.Kind) error
	// StepOptions is Step, except for the lanes where epochs is true. Such a lane
	// learns, selects no action, and describes its decision in its entry of problems.
	// The host supplies the terms of the problem that are its own: Step, Hold,
	// ExplorationCost and Capped. The slices of a problem belong to the agent and are
	// valid until the next call. Lanes that are idle, or whose episode just ended, have
	// no epoch.
	StepOptions(ctx context.Context, in *Feedback, epochs []bool, actions *space.Column, problems []options.Problem) error
	// Choose ends the epochs of the last StepOptions. A lane with an entry ≥ 0 in choices
	// follows that option from now on, and selects its action by it. The entry is an index
	// of its problem's Arms and, after them, Pairs. Other lanes are left alone. At every
	// step the greedy option uses all that the lane has learned. Others should stay as
	// they were when they were chosen.
	Choose(ctx context.Context, choices []int, actions *space.Column) error
	// GreedyPolicy returns the greedy action of a lane in every observation of a
	// Discrete space, counted from 0 like the actions, into dst, which is grown as
	// needed. The host estimates by it how long a deviation from the greedy policy
	// matters. Its error wraps ErrUnsupported where observations are not Discrete.
	GreedyPolicy(ctx context.Context, lane int, dst []int) ([]int, error)
}

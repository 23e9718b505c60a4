package framework

import (
	"context"

	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/options"
)

// Agent is one copy of an agent. Authors of agents implement it. Package vector
// makes many lanes of it, with a fresh Agent for every run.
type Agent interface {
	// SelectAction returns the action for an observation. The observation's
	// slices are views that change with the next call.
	SelectAction(ctx context.Context, observation space.Value) (space.Value, error)
	// Update learns from one transition. It is not called in evaluation.
	Update(ctx context.Context, t Transition) error
}

// Transition is one step as a learner sees it. Its slices are views that change
// with the next call.
type Transition struct {
	Observation           space.Value // before the action
	Action                space.Value // in the agent's action space
	Reward                float64     // finite, in the spec's bounds
	NextObservation       space.Value // after the action, also at the end of an episode
	Terminated, Truncated bool        // see TimeStep
}

// GreedyAgent is an Agent that can act without exploring. Implementing it is optional.
type GreedyAgent interface {
	// SelectGreedyAction returns the action that the agent estimates to be best. It is
	// called in place of SelectAction while the agent is evaluated; Update is not
	// called then. Agents without it act in evaluation as SelectAction says.
	SelectGreedyAction(ctx context.Context, observation space.Value) (space.Value, error)
}

// MaskedAgent is an Agent for environments with masks (Spec.Masks), too. Implementing it is
// optional; environments with masks refuse other agents.
type MaskedAgent interface {
	// SetActionMask says which actions are allowed, in the order of the Discrete action space:
	// before SelectAction at its observation, and before Update at its NextObservation, whose best
	// allowed action a learner may bootstrap from. The slice changes with the next call.
	SetActionMask(allowed []bool)
}

// Optioner is an Agent whose exploration the host may decide. It names its options
// and its beliefs about them. The host chooses, and the lane follows the chosen
// policy until the next decision. VectorizeAgent makes an OptionAgent of it.
// Without such a host it acts by SelectAction.
type Optioner interface {
	// Options describes the decision that the agent faces at an observation: the
	// greedy option and those of the kinds that the host wants besides. Its error
	// wraps ErrUnsupported if the agent cannot make a kind; it is tried with a fresh
	// agent and any observation before the first run, to find that out.
	Options(ctx context.Context, observation space.Value, kinds []options.Kind) (Candidates, error)
}

// Candidates are the options of a decision, and how to follow each.
type Candidates struct {
	// Problem has Arms, Greedy, Values and, if there are uninformed options, Optimal;
	// the rest is the host's. Its slices are read before the agent is next called.
	options.Problem
	// Policies has a policy for every arm. They are used until the next decision,
	// and may be methods of the agent, which goes on learning meanwhile. The greedy
	// one is also asked what it does in every observation, where these are Discrete,
	// and must not change by it.
	Policies []Policy
}

// Policy selects an action as Agent.SelectAction does.
type Policy func(ctx context.Context, observation space.Value) (space.Value, error)

// Saver is an Agent that can be stored. Implementing it is optional. Only an agent
// that is also a Loader has the ability "checkpoint".
type Saver interface {
	// Save returns everything that the agent's behaviour depends on, with its random
	// streams. An option that an Optioner follows is not part of it, since its policy is
	// code of the agent's program. So the agent that loads it goes on with an episode, or
	// with a decision of the host.
	Save(ctx context.Context) ([]byte, error)
}

// Loader is an Agent that can be restored. Implementing it is optional.
type Loader interface {
	// Load gives the agent the saved state: for the same feedback it then selects
	// the same actions as the saved agent. It does not keep the slice state.
	Load(ctx context.Context, state []byte) error
}

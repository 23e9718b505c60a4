package vector

import (
	"context"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/mdp"
)

// Signal tells one lane what a call is for.
type Signal uint8

const (
	// Idle leaves the lane alone: its run is over. Its entries in every column
	// are meaningless and stay untouched.
	Idle Signal = iota
	// Continue is an ordinary step.
	Continue
	// NewEpisode starts the next episode of the lane's run. The environment
	// ignores the action, draws the initial state from the lane's seed and
	// answers with reward 0 and both flags false; the agent learns nothing from
	// this call and acts on its observation.
	NewEpisode
	// NewRun is NewEpisode, and the lane belongs to another run from now on: an
	// agent forgets all it has learned and restarts from the lane's seed.
	NewRun
	// Evaluate is for agents alone: Continue with learning off. The lane learns
	// nothing from the outcome of its last action and, unless the episode ended,
	// selects the next one.
	Evaluate
)

// Actions is what an environment receives: one entry a lane in every slice.
type Actions struct {
	Signals []Signal
	// Seeds holds, where Signals is NewEpisode or NewRun, the seed from which
	// the lane's random stream of that episode starts.
	Seeds []uint64
	// Actions holds, where Signals is Continue, the selected action.
	Actions space.Column
}

// TimeSteps is what an environment answers: one entry a lane in every slice.
type TimeSteps struct {
	Observations space.Column // valid at the end of an episode, too
	Rewards      []float64    // finite
	// Terminated: the MDP ended, nothing follows; learners bootstrap with zero.
	// Truncated: the episode was cut short; learners bootstrap from the last
	// observation. After either, the lane's next signal is NewEpisode or Idle.
	Terminated, Truncated []bool
}

// NewActions returns zeroed columns for the given lanes of a spec's actions.
func NewActions(spec framework.Spec, lanes int) *Actions {
	return &Actions{
		Signals: make([]Signal, lanes),
		Seeds:   make([]uint64, lanes),
		Actions: space.NewColumn(spec.Action, lanes),
	}
}

// NewTimeSteps returns zeroed columns for the given lanes of a spec.
func NewTimeSteps(spec framework.Spec, lanes int) TimeSteps {
	return TimeSteps{
		Observations: space.NewColumn(spec.Observation, lanes),
		Rewards:      make([]float64, lanes),
		Terminated:   make([]bool, lanes),
		Truncated:    make([]bool, lanes),
	}
}

// Environment is n lanes of an environment, stepped together. It need not
// be safe for concurrent use.
type Environment interface {
	Spec() framework.Spec
	// Step advances every lane as its signal says and fills every entry of out,
	// whose slices the caller owns, but those of idle lanes. An error ends the
	// whole batch; it wraps a *LaneError where one lane is to blame, and
	// ErrNeedsReset or ErrInvalidAction where Environment.Step would.
	Step(ctx context.Context, in *Actions, out *TimeSteps) error
	Close() error
}

// LaneEnvironment is a Environment, with space.Discrete observations and
// actions, whose lanes can also be played one at a time. Where the agent is a LaneAgent
// in the same process, the loop has a lane's steps made one after the other, without
// columns, while the lane's data are in the processor's cache.
type LaneEnvironment interface {
	Environment
	// PlayLane makes steps of one lane, whose signal is Continue and whose episode
	// goes on, and not a call for any other: agent.StepLane selects each action after
	// what the last step yielded, at first last. It stops when actions and rewards,
	// which are the caller's, as long as each other and not empty, are filled, or the
	// episode ends, and returns how many steps it made and the outcome of the last
	// one. An error says how many were made before; one of the agent is wrapped in an
	// *AgentError.
	PlayLane(lane int, agent LaneAgent, last LaneStep, actions []int64, rewards []float64) (made int, _ LaneStep, err error)
}

// LaneStep is the outcome of a step of one lane; see TimeStep.
type LaneStep struct {
	Observation           int64
	Reward                float64
	Terminated, Truncated bool
}

// Modeler is a Environment whose lanes are known finite MDPs. The host
// computes the optimum, regret and mixing times from them.
type Modeler interface {
	// Models returns the model of every lane as it stands: valid from the
	// lane's NewRun on. Lanes with the same dynamics may share one model; the
	// caller must not change it.
	Models(ctx context.Context) ([]*mdp.Tabular, error)
}

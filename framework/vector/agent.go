package vector

import (
	"context"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
)

// Feedback is what an agent receives: one entry per lane in every slice. If the
// signal is Continue, it is the outcome of the action that the agent selected
// last. If it is NewEpisode or NewRun, only the observation counts.
type Feedback struct {
	Signals []Signal // one per lane
	// Seeds holds, where Signals is NewRun, the seed of the agent's random
	// streams in that run.
	Seeds []uint64
	TimeSteps
}

// NewFeedback returns zeroed columns for the given lanes of a spec.
func NewFeedback(spec framework.Spec, lanes int) *Feedback {
	return &Feedback{
		Signals:   make([]Signal, lanes),
		Seeds:     make([]uint64, lanes),
		TimeSteps: NewTimeSteps(spec, lanes),
	}
}

// Agent is n lanes of an agent, stepped together. It need not be safe for
// concurrent use.
//
// If it was opened for several actors (framework.Spec.Actors), so many successive lanes are the
// environments of one run, in which one copy of the agent acts. They begin their run together, each with a
// seed; their episodes begin and end apart, and any of them may be idle. The first of these
// lanes stands for the run where a lane is asked for something: in Measures and Calls. A run goes on
// from its saved state as it would have without. The state may also be loaded by an agent with another
// number of actors. The next signals then begin episodes.
type Agent interface {
	// Step lets every lane learn from the outcome of its last action, then
	// select the next one into actions, whose slices the caller owns. If an
	// episode ended (Terminated or Truncated), the lane learns and its action
	// is not used.
	Step(ctx context.Context, in *Feedback, actions *space.Column) error
	// Abilities returns what the agent can do besides. It does not change.
	Abilities() AgentAbilities
	// Close frees what the agent holds. Nothing is called after it.
	Close() error
}

// AgentAbilities are the optional abilities of an Agent. A field is nil where the
// ability is absent.
type AgentAbilities struct {
	// Options is the agent, where the host may decide when it explores.
	Options OptionAgent
	// Lane is the agent, where its lanes can be stepped alone.
	Lane LaneAgent
	// Measures are the agent's metrics of its own.
	Measures *Measures
	// Greedy says that the agent knows the signal EvaluateEpisode: in evaluation it
	// selects the actions that it estimates to be best. Agents without it select in evaluation
	// as they do when they learn.
	Greedy bool
	// Masks says that the agent reads TimeSteps.Masks, and selects allowed actions alone.
	Masks bool
	// Calls are the abilities of single lanes, by name; see Checkpoint.
	Calls Calls
	// Join lets the agent and an environment of its own process make steps without a message each; see
	// Ahead. It returns nil if they have no process in common.
	Join func(Environment) Ahead
}

// Ahead is called before a step of an agent. It promises so many pairs of steps, of the agent and then
// the environment, in which every lane continues, and that nothing else is asked of the two in between.
// A lane whose episode has ended begins the next one, with the seed that seed returns (episode 0 is the
// next). The promise ends before a lane begins more than so many episodes. The answers are the same as without the promise.
type Ahead func(steps, episodes int, seed func(lane, episode int) uint64)

// LaneAgent is an Agent, for space.Discrete observations and actions, whose
// lanes can also be stepped alone; see LaneEnvironment.
type LaneAgent interface {
	Agent
	// StepLane is Step for one lane, whose signal is Continue and whose episode
	// goes on. It does not touch other lanes. The lane learns that its last
	// action was paid reward and led to observation, and selects the next.
	StepLane(lane int, observation int64, reward float64) (action int64, err error)
}

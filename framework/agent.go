package framework

import (
	"context"

	"github.com/rlrun/rlrun/framework/space"
)

// Feedback is what an agent receives: one entry a lane in every slice. Where
// Signals is Continue it is the outcome of the action the agent selected last;
// where it is NewEpisode or NewRun only the observation counts.
type Feedback struct {
	Signals []Signal
	// Seeds holds, where Signals is NewRun, the seed of the agent's random
	// streams in that run.
	Seeds []uint64
	TimeSteps
}

// NewFeedback returns zeroed columns for the given lanes of a spec.
func NewFeedback(spec Spec, lanes int) *Feedback {
	return &Feedback{
		Signals:   make([]Signal, lanes),
		Seeds:     make([]uint64, lanes),
		TimeSteps: NewTimeSteps(spec, lanes),
	}
}

// VectorAgent is n lanes of an agent, stepped together. It need not be safe for
// concurrent use.
type VectorAgent interface {
	// Step lets every lane learn from the outcome of its last action, then
	// select the next one into actions, whose slices the caller owns. Where an
	// episode ended (Terminated or Truncated) the lane learns and its action is
	// not used.
	Step(ctx context.Context, in *Feedback, actions *space.Column) error
	Close() error
}

// LaneAgent is a VectorAgent, for space.Discrete observations and actions, whose
// lanes can also be stepped alone; see LaneEnvironment.
type LaneAgent interface {
	VectorAgent
	// StepLane is Step for one lane, whose signal is Continue and whose episode
	// goes on, and not a call for any other: the lane learns that its last action
	// was paid reward and led to observation, and selects the next.
	StepLane(lane int, observation int64, reward float64) (action int64, err error)
}

// Agent is one copy of an agent: what authors write. VectorizeAgent makes a
// VectorAgent of it. A fresh Agent is made for every run.
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
	Observation           space.Value
	Action                space.Value
	Reward                float64
	NextObservation       space.Value
	Terminated, Truncated bool // see TimeSteps
}

package vector

import (
	"context"
	"fmt"

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
	// Continue is an ordinary step: the environment takes the lane's action; the agent
	// learns from its outcome and selects the next one.
	Continue
	// NewEpisode starts the next episode of the lane's run. The environment
	// ignores the action, draws the initial state from the lane's seed, and
	// answers with reward 0 and both flags false. The agent learns nothing from
	// this call and acts on its observation.
	NewEpisode
	// NewRun is NewEpisode, and the lane belongs to another run from now on: an
	// agent forgets all it has learned and restarts from the lane's seed.
	NewRun
	// Evaluate is for agents alone: Continue with learning off. The lane learns
	// nothing from the outcome of its last action and, unless the episode ended,
	// selects the next one. In an episode that EvaluateEpisode began that is the
	// action that the lane estimates to be best; otherwise it selects as it does when it
	// learns.
	Evaluate
	// EvaluateEpisode is for agents with the ability Greedy: NewEpisode of an
	// evaluation. The lane selects the action that it estimates to be best, without
	// exploration. The signals of the lane are Evaluate until its next episode. An
	// evaluation may change the random streams of the lane.
	EvaluateEpisode
)

// Actions is what an environment receives: one entry per lane in every slice.
type Actions struct {
	Signals []Signal // one per lane
	// Seeds holds, where Signals is NewEpisode or NewRun, the seed from which
	// the lane's random stream of that episode starts.
	Seeds []uint64
	// Actions holds, where Signals is Continue, the selected action.
	Actions space.Column
}

// TimeSteps is what an environment answers: one entry per lane in every slice.
type TimeSteps struct {
	Observations space.Column // valid at the end of an episode, too
	Rewards      []float64    // finite
	// Terminated: the MDP ended, nothing follows; learners bootstrap with zero.
	// Truncated: the episode was cut short; learners bootstrap from the last
	// observation. After either, the lane's next signal is NewEpisode or Idle.
	Terminated, Truncated []bool
	// Masks says which actions each lane may take at its observation, an entry for every action
	// of lane 0, then of lane 1, and so on; empty unless Spec.Masks. At least one is allowed
	// unless the lane terminated.
	Masks []bool
}

// Mask returns which actions lane i may take, nil if all.
func (t *TimeSteps) Mask(i int) []bool {
	if len(t.Masks) == 0 {
		return nil
	}
	n := len(t.Masks) / len(t.Rewards)
	return t.Masks[i*n : (i+1)*n]
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
	t := TimeSteps{
		Observations: space.NewColumn(spec.Observation, lanes),
		Rewards:      make([]float64, lanes),
		Terminated:   make([]bool, lanes),
		Truncated:    make([]bool, lanes),
	}
	if actions, ok := spec.Action.(space.Discrete); ok && spec.Masks {
		t.Masks = make([]bool, int64(lanes)*actions.N)
	}
	return t
}

// Environment is n lanes of an environment, stepped together. It need not
// be safe for concurrent use.
type Environment interface {
	// Spec describes observations, actions and rewards. It is the same for all lanes and
	// does not change.
	Spec() framework.Spec
	// Step advances every lane as its signal says and fills every entry of out,
	// whose slices the caller owns, but those of idle lanes. An error ends the
	// whole batch; it wraps a *LaneError where one lane is to blame, and
	// ErrNeedsReset or ErrInvalidAction where Environment.Step would.
	Step(ctx context.Context, in *Actions, out *TimeSteps) error
	// Abilities returns what the environment can do besides. It does not change.
	Abilities() EnvironmentAbilities
	// Close frees what the environment holds. Nothing is called after it.
	Close() error
}

// EnvironmentAbilities are the optional abilities of an Environment. A field is nil
// where the ability is absent. A wrapper passes all of them on by returning those of
// the environment that it wraps, or a copy with some fields replaced.
type EnvironmentAbilities struct {
	// Models returns the model of every lane, where lanes are known finite MDPs. A
	// model is valid from the lane's NewRun on. Lanes with the same dynamics may
	// share one model; the caller does not change it. The host computes the optimum,
	// regret and mixing times from models.
	Models func(ctx context.Context) ([]*mdp.Tabular, error)
	// Measures are the environment's metrics of its own.
	Measures *Measures
	// Calls are the abilities of single lanes, by name; see Ability.
	Calls Calls
	// PlayLane plays one lane alone, where observations and actions are
	// space.Discrete. The lane's signal is Continue and its episode goes on.
	// agent.StepLane selects each action after the outcome of the last step, at first
	// last. PlayLane stops when actions and rewards are filled (the caller owns both;
	// they are equally long and not empty) or when the episode ends. It returns the
	// number of steps made and the outcome of the last one. After an error, made
	// counts the steps before it; an error of the agent is wrapped in an *AgentError.
	//
	// The loop uses it where the agent is a LaneAgent in the same process: many steps
	// of one lane are made while its data are in the processor's cache.
	PlayLane func(lane int, agent LaneAgent, last LaneStep, actions []int64, rewards []float64) (made int, _ LaneStep, err error)
}

// WithAbilities returns env with the given abilities in place of its own.
func WithAbilities(env Environment, abilities EnvironmentAbilities) Environment {
	return able{env, abilities}
}

type able struct {
	Environment
	abilities EnvironmentAbilities
}

func (a able) Abilities() EnvironmentAbilities { return a.abilities }

// Models returns the models of env's lanes. The error wraps
// framework.ErrUnsupported if env has none.
func Models(ctx context.Context, env Environment) ([]*mdp.Tabular, error) {
	if f := env.Abilities().Models; f != nil {
		return f(ctx)
	}
	return nil, fmt.Errorf("%s has no known model: %w", env.Spec().ID, framework.ErrUnsupported)
}

// LaneStep is the outcome of a step of one lane; see TimeStep.
type LaneStep struct {
	Observation           int64   // after the action
	Reward                float64 // of the action
	Terminated, Truncated bool    // whether and how the episode ended
}

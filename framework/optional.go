package framework

import (
	"context"
	"fmt"

	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/options"
)

// What the author of an Environment or Agent may implement besides. Vectorize,
// VectorizeAgent and the plugin seam pass each ability on.

// Batcher is an Environment that knows a faster way to step many copies of
// itself than one after the other.
type Batcher interface {
	// Batch returns lanes of environments with the receiver's spec.
	Batch(lanes int) (VectorEnvironment, error)
}

// AgentBatcher is an Agent that knows a faster way to step many copies of itself
// than one after the other.
type AgentBatcher interface {
	// BatchAgent returns lanes of agents with the receiver's parameters. Each
	// takes its seed from the column at its NewRun.
	BatchAgent(lanes int) (VectorAgent, error)
}

// KnownModel is an Environment that is a known finite MDP.
type KnownModel interface {
	// Model returns the model of the current episode. Observations and actions
	// are the model's states and actions, in the order of their spaces. Copies
	// with the same dynamics may return the same model; nobody changes it.
	Model(ctx context.Context) (*mdp.Tabular, error)
}

// Renderer is an Environment that can be looked at.
type Renderer interface {
	// Render draws the current state as text of one or more lines, as Gymnasium's
	// render mode "ansi" does. It changes nothing.
	Render(ctx context.Context) (string, error)
}

// LaneRenderer is a VectorEnvironment whose lanes can be looked at.
type LaneRenderer interface {
	// RenderLane is Renderer.Render of a lane that has been started. Its error
	// wraps ErrUnsupported where there is nothing to see.
	RenderLane(ctx context.Context, lane int) (string, error)
}

// Optioner is an Agent whose exploration the host may decide: it says what there is
// to choose from, and what it believes of that; the host chooses, and the lane
// follows the chosen policy until the next decision. VectorizeAgent makes an
// OptionAgent of it. Left alone it acts by SelectAction.
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

// Saver is an Agent that can be stored. Only one that is a Loader, too, has the
// capability "checkpoint".
type Saver interface {
	// Save returns everything that the agent's behaviour depends on, its random
	// streams included. It is not asked of an Optioner that follows an option, of
	// which only the agent's program knows what it does.
	Save(ctx context.Context) ([]byte, error)
}

// Loader is an Agent that can be restored.
type Loader interface {
	// Load makes the agent, whatever it was before, go on as the one that was
	// saved: same feedback, same actions. It does not keep state.
	Load(ctx context.Context, state []byte) error
}

// LaneSaver is a VectorAgent whose lanes can be stored.
type LaneSaver interface {
	// SaveLane is Saver.Save of a lane whose run has begun. Its error wraps
	// ErrUnsupported where agents cannot be saved.
	SaveLane(ctx context.Context, lane int) ([]byte, error)
}

// LaneLoader is a VectorAgent whose lanes can be restored.
type LaneLoader interface {
	// LoadLane is Loader.Load, of any lane. Its error wraps ErrUnsupported where
	// agents cannot be loaded.
	LoadLane(ctx context.Context, lane int, state []byte) error
}

// Render draws a lane of env. The error wraps ErrUnsupported if env cannot.
func Render(ctx context.Context, env VectorEnvironment, lane int) (string, error) {
	if r, ok := env.(LaneRenderer); ok {
		return r.RenderLane(ctx, lane)
	}
	return "", fmt.Errorf("%s cannot be rendered: %w", env.Spec().ID, ErrUnsupported)
}

// Save stores a lane of agent. The error wraps ErrUnsupported if agent cannot.
func Save(ctx context.Context, agent VectorAgent, lane int) ([]byte, error) {
	if s, ok := agent.(LaneSaver); ok {
		return s.SaveLane(ctx, lane)
	}
	return nil, fmt.Errorf("the agent cannot be saved: %w", ErrUnsupported)
}

// Load restores a lane of agent. The error wraps ErrUnsupported if agent cannot.
func Load(ctx context.Context, agent VectorAgent, lane int, state []byte) error {
	if l, ok := agent.(LaneLoader); ok {
		return l.LoadLane(ctx, lane, state)
	}
	return fmt.Errorf("the agent cannot be loaded: %w", ErrUnsupported)
}

package framework

import (
	"context"
	"fmt"

	"github.com/rlrun/rlrun/mdp"
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

// Checkpointer is an Agent that can be stored and restored.
type Checkpointer interface {
	// Save returns everything that the agent's behaviour depends on, its random
	// streams included.
	Save(ctx context.Context) ([]byte, error)
	// Load makes the agent, whatever it was before, go on as the one that was
	// saved: same feedback, same actions. It does not keep state.
	Load(ctx context.Context, state []byte) error
}

// LaneCheckpointer is a VectorAgent whose lanes can be stored and restored.
type LaneCheckpointer interface {
	// SaveLane is Checkpointer.Save of a lane whose run has begun; LoadLane is
	// Load, of any lane. Their errors wrap ErrUnsupported where agents cannot.
	SaveLane(ctx context.Context, lane int) ([]byte, error)
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
	if c, ok := agent.(LaneCheckpointer); ok {
		return c.SaveLane(ctx, lane)
	}
	return nil, fmt.Errorf("the agent cannot be saved: %w", ErrUnsupported)
}

// Load restores a lane of agent. The error wraps ErrUnsupported if agent cannot.
func Load(ctx context.Context, agent VectorAgent, lane int, state []byte) error {
	if c, ok := agent.(LaneCheckpointer); ok {
		return c.LoadLane(ctx, lane, state)
	}
	return fmt.Errorf("the agent cannot be loaded: %w", ErrUnsupported)
}

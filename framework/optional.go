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

// Saver is an Agent that can be stored. Only one that is a Loader, too, has the
// capability "checkpoint".
type Saver interface {
	// Save returns everything that the agent's behaviour depends on, its random
	// streams included.
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

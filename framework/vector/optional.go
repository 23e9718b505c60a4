package vector

import (
	"context"
	"fmt"

	"github.com/rlrun/rlrun/framework"
)

// What the author of an Environment or Agent may implement besides. Vectorize,
// VectorizeAgent and the plugin seam pass each ability on.

// Batcher is an Environment that knows a faster way to step many copies of
// itself than one after the other.
type Batcher interface {
	// Batch returns lanes of environments with the receiver's spec.
	Batch(lanes int) (Environment, error)
}

// AgentBatcher is an Agent that knows a faster way to step many copies of itself
// than one after the other.
type AgentBatcher interface {
	// BatchAgent returns lanes of agents with the receiver's parameters. Each
	// takes its seed from the column at its NewRun.
	BatchAgent(lanes int) (Agent, error)
}

// LaneSaver is a Agent whose lanes can be stored.
type LaneSaver interface {
	// SaveLane is Saver.Save of a lane whose run has begun. Its error wraps
	// ErrUnsupported where agents cannot be saved.
	SaveLane(ctx context.Context, lane int) ([]byte, error)
}

// LaneLoader is a Agent whose lanes can be restored.
type LaneLoader interface {
	// LoadLane is Loader.Load, of any lane. Its error wraps ErrUnsupported where
	// agents cannot be loaded.
	LoadLane(ctx context.Context, lane int, state []byte) error
}

// Save stores a lane of agent. The error wraps ErrUnsupported if agent cannot.
func Save(ctx context.Context, agent Agent, lane int) ([]byte, error) {
	if s, ok := agent.(LaneSaver); ok {
		return s.SaveLane(ctx, lane)
	}
	return nil, fmt.Errorf("the agent cannot be saved: %w", framework.ErrUnsupported)
}

// Load restores a lane of agent. The error wraps ErrUnsupported if agent cannot.
func Load(ctx context.Context, agent Agent, lane int, state []byte) error {
	if l, ok := agent.(LaneLoader); ok {
		return l.LoadLane(ctx, lane, state)
	}
	return fmt.Errorf("the agent cannot be loaded: %w", framework.ErrUnsupported)
}

package vector

// These are optional interfaces of a framework.Environment or framework.Agent.

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
	// takes its seed from the column at its NewRun. With n actors (framework.Spec.Actors) a copy of the
	// agent acts in n lanes: see Agent.
	BatchAgent(lanes int) (Agent, error)
}

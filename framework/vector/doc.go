// Package vector is the batched contract between agents and environments. An
// Environment or Agent here holds n lanes. A lane is an independent run with its
// own random stream. One call steps all lanes, as in gymnasium.vector.
//
// Lanes never interact, so a result cannot depend on how runs are grouped.
// Vectorize and VectorizeAgent make lanes of single copies (framework.Environment,
// framework.Agent). An author who can step many copies faster implements
// Batcher or AgentBatcher.
package vector

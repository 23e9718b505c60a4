// Package framework is the contract between agents and environments: what an
// environment describes, what crosses between it and an agent at every step, and
// what a plugin offers. Everything that runs experiments is built on it and sits
// in the folders below:
//
//	space       sets of observations and actions, and columns of their values
//	seed        counter-based seeds: which random stream belongs to whom
//	loop        the batched agent-environment loop and what it records
//	plugin      the seam: plugins as subprocesses over hashicorp/go-plugin
//	experiment  an experiment's config, its plan, and running the plan
//	result      records, statistics, and the files of the output directory
//	report      plots and the report page
//	rltest      the conformance suite for authors of environments and agents
//
// The contract is batched. A VectorEnvironment or VectorAgent holds n lanes, each
// an independent run with its own random stream, and one call steps them all.
// Lanes never interact, so a result cannot depend on how runs are grouped. An
// author writes one copy (Environment, Agent) and Vectorize makes n of it.
//
// The package imports the standard library, framework/space and mdp (an
// environment may hand over its model). It logs nothing and keeps no state.
package framework

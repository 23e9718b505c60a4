// Package framework is the contract for authors of environments and agents. It
// has one copy of a task (Environment), one learner (Agent), the description of a
// task (Spec), the optional abilities of both, and the errors that they return.
// It has no other names.
//
// The host steps many copies together. Package framework/vector has the batched
// contract: lanes, signals, columns, and plugins as the host opens them. Authors
// need it only where one call for many copies is faster. Packages that run
// experiments build on it:
//
//	space       sets of observations and actions, and columns of their values
//	vector      lanes: many copies of an environment or agent, stepped together
//	seed        counter-based seeds: which random stream belongs to which purpose
//	loop        the batched agent-environment loop and its recorder
//	plugin      plugins as subprocesses over hashicorp/go-plugin
//	experiment  an experiment's config, its plan, and running the plan
//	result      records, statistics, and the files of the output directory
//	report      plots and the report page
//	rltest      the conformance suite for authors of environments and agents
//
// The package imports the standard library, framework/space, mdp (an environment
// may hand over its model) and options. It logs nothing and keeps no state.
package framework

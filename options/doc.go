// Package options holds temporally extended actions in finite Markov decision
// processes, and the reduction of such a process to a bandit over them.
//
// # Options
//
// An [Option] has an initiation set, a policy and a termination condition
// (Sutton, Precup & Singh 1999). The latter two may depend on the time since its
// initiation, so timeouts are options. [NewModel] computes what an option does,
// exactly, from a model of its process.
//
// # The reduction
//
// When is it worth leaving the greedy policy y for another option x, held for T
// steps? The belief is a set of K equally likely models. Each option has a value
// in each model, which makes it an arm of a bandit with a population of K
// members. The thresholds of package bandit then apply, with the share of the
// horizon that T steps take. [Reduce] makes that bandit from models, [Tables]
// makes it from tables of action values, and [Decide] decides. Part 3 of
// docs/theory.md has the mathematics, and says what is not claimed.
//
// # Adding a rule or a kind of option
//
// An exploration rule ([Rule]) is one file, rule_NAME.go, and one line in [Rules]. A
// kind of option ([Kind]) is one file, kind_NAME.go, which makes its options, values
// them and acts, and one line in [Kinds]. Configurations, their schema, help texts and
// errors follow from these lists.
//
// The package is mathematics: it imports the standard library, gonum, and
// packages bandit and mdp. Functions panic, with a constant message, when a
// caller breaks a documented precondition; data that may come from elsewhere, as
// a Problem may, is checked and refused with an error.
package options

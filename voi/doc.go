// Package voi answers when exploring an unknown finite MDP is worth it, pair by pair.
// It computes what the next tries of a state and action may gain over the steps that
// are left, and what it costs to go there, try it and return. Then it says which pair
// comes first. The derivation, with what is proved and what is heuristic, is §3.8 of
// docs/theory.md.
//
// A Belief is what has been seen: states in the order of first visit, however many
// there may be. A Planner keeps the policy that is greedy for the posterior mean, the
// prizes of pairs, and the way to the best one. Rewards are counted in units of
// their range.
//
// Relatives: the value of perfect information of Q-values (Dearden, Friedman &
// Andre, UAI 1999) and the knowledge gradient (Ryzhov, Powell & Frazier, Oper. Res.
// 2012).
package voi

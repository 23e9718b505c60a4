// Package voi decides when exploring an unknown finite MDP is worth it, for every pair
// of a state and an action. For each pair it computes the possible gain of the next
// tries over the steps that are left, and the cost of going there, trying it and
// returning. Then it chooses the pair to try first. The derivation is §3.8 of
// docs/theory.md, which says what is proved and what is heuristic. Comments name its paragraphs
// in quotation marks, and symbols are those of theirs: V, Q, W, D, f, c.
//
// A Belief holds the observed transitions: states in the order of their first visit, of
// any number. A Planner keeps the policy that is greedy for the posterior mean. It keeps
// the prize of every pair (gain per try minus cost of a try), and the route to the best
// pair. Internally, rewards are in units of their range.
//
// Related work: the value of perfect information of Q-values (Dearden, Friedman &
// Andre, UAI 1999) and the knowledge gradient (Ryzhov, Powell & Frazier, Oper. Res.
// 2012).
package voi

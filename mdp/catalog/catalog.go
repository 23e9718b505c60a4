// Package catalog defines the standard tasks of the reinforcement learning
// literature as exact finite models. Several of them exist in variants with the
// same name and different numbers, so each function names its source.
// Environments are made from the same definitions. Like mdp, the package is
// mathematics only.
package catalog

import (
	"errors"
	"fmt"

	"github.com/rlrun/rlrun/mdp"
)

// Task is a model with what people need to read it.
type Task struct {
	Model  *mdp.Tabular // of the whole task
	Layout *Layout      // where the states are, for tasks on a grid; else nil
	// Limit is the number of steps after which an episode is customarily cut off
	// (truncated), 0 for none. It is not part of the model.
	Limit int
	// Dives judges episodes; nil if nothing does.
	Dives *Dives
}

// Dives say which episodes are bad: those in which an action leaves the way to the treasure. A run has solved the
// task once the share of its episodes that were bad is below MostBad, from episode From on, as in bsuite.
type Dives struct {
	Way     []int // by state, the action that stays on the way to the treasure; -1 off the way
	MostBad float64
	From    int
}

// Layout places states on a grid.
type Layout struct {
	Rows, Cols int    // size of the grid
	Cell       []int  // row*Cols+column of each state, -1 for a state that is nowhere
	Wall       []bool // per cell
}

// leftRight are the actions of the chains.
var leftRight = []string{"left", "right"}

// task makes a task of a definition and the rows of its model.
func task(d mdp.Definition, fill func(s, a int, row *mdp.Row)) (*Task, error) {
	m, err := mdp.Generate(d, fill)
	if err != nil {
		return nil, err
	}
	return &Task{Model: m}, nil
}

// RiverSwim is the chain of n ≥ 2 states with a current to the left, in the
// numbers of Osband's TabulaRL. Swimming right succeeds with probability 0.35 (0.6
// in state 0), drifts back with 0.05 (0.4 in the last state) and stays otherwise.
// Left always succeeds. Rewards: 0.005 for left in state 0, 1 for right in the
// last. Episodes start in state 0 and do not end.
func RiverSwim(n int) (*Task, error) {
	if n < 2 {
		return nil, fmt.Errorf("RiverSwim has at least 2 states, not %d", n)
	}
	return task(mdp.Definition{Name: "RiverSwim", Description: "RiverSwim with the numbers of Osband's TabulaRL",
		States: n, Actions: 2, ActionNames: leftRight, Initial: []mdp.Weight{{S: 0, P: 1}}},
		func(s, a int, row *mdp.Row) {
			switch last := n - 1; {
			case a == 0:
				row.Add(max(s-1, 0), 1)
				if s == 0 {
					row.Reward(0.005)
				}
			case s == 0:
				row.Add(0, 0.4)
				row.Add(1, 0.6)
			case s == last:
				row.Add(last-1, 0.4)
				row.Add(last, 0.6)
				row.Reward(1)
			default:
				row.Add(s-1, 0.05)
				row.Add(s, 0.6)
				row.Add(s+1, 0.35)
			}
		})
}

// RiverSwimStrehl is RiverSwim in the numbers of Strehl & Littman (2004, 2008).
// Right succeeds with probability 0.3 and drifts back with 0.1 (0.7 in the last
// state). Rewards are paid for the transition: 5 for staying in state 0 by
// swimming left, 10000 for staying in the last state by swimming right.
// Episodes start in state 1 or 2, n ≥ 3, and do not end.
func RiverSwimStrehl(n int) (*Task, error) {
	if n < 3 {
		return nil, fmt.Errorf("RiverSwim of Strehl & Littman has at least 3 states, not %d", n)
	}
	return task(mdp.Definition{Name: "RiverSwimStrehl", Description: "RiverSwim with the numbers of Strehl & Littman",
		States: n, Actions: 2, ActionNames: leftRight, Initial: []mdp.Weight{{S: 1, P: 0.5}, {S: 2, P: 0.5}}},
		func(s, a int, row *mdp.Row) {
			switch last := n - 1; {
			case a == 0 && s == 0:
				row.AddRewarded(0, 1, 5)
			case a == 0:
				row.Add(s-1, 1)
			case s == 0:
				row.Add(0, 0.7)
				row.Add(1, 0.3)
			case s == last:
				row.Add(last-1, 0.7)
				row.AddRewarded(last, 0.3, 10000)
			default:
				row.Add(s-1, 0.1)
				row.Add(s, 0.6)
				row.Add(s+1, 0.3)
			}
		})
}

// SixArms is the task of Strehl & Littman (2004): six rooms around a hall, the
// better the harder to enter; in each one action pays and stays. In the first
// room it is the other way round: every action but the one that leaves pays 50.
// Episodes start in the hall, state 0, and do not end.
func SixArms() (*Task, error) {
	enter := []float64{1, 0.15, 0.10, 0.05, 0.03, 0.01}
	pay := []float64{133, 300, 800, 1660, 6000} // rooms 2..6
	return task(mdp.Definition{Name: "SixArms", Description: "SixArms (Strehl & Littman 2004)",
		States: 7, Actions: 6, Initial: []mdp.Weight{{S: 0, P: 1}}},
		func(s, a int, row *mdp.Row) {
			switch {
			case s == 0:
				row.Add(a+1, enter[a])
				row.Add(0, 1-enter[a])
			case s == 1 && a != 4:
				row.Add(1, 1)
				row.Reward(50)
			case s > 1 && a == s-1:
				row.Add(s, 1)
				row.Reward(pay[s-2])
			default:
				row.Add(0, 1)
			}
		})
}

// Chain is the chain of n ≥ 2 states, usually 5, of Dearden, Friedman & Russell
// (1998) and Strens (2000). Forward pays 10 in the last state and nothing before.
// Back leads to state 0 and pays 2. With probability 0.2 the other action takes
// place, with its reward.
func Chain(n int) (*Task, error) {
	const slip = 0.2
	if n < 2 {
		return nil, fmt.Errorf("Chain has at least 2 states, not %d", n)
	}
	return task(mdp.Definition{Name: "Chain", Description: "Chain (Dearden, Friedman & Russell 1998; Strens 2000)",
		States: n, Actions: 2, ActionNames: []string{"forward", "back"}, Initial: []mdp.Weight{{S: 0, P: 1}}},
		func(s, a int, row *mdp.Row) {
			forward := []float64{1 - slip, slip}[a]
			if s == n-1 {
				row.AddRewarded(s, forward, 10)
			} else {
				row.Add(s+1, forward)
			}
			row.AddRewarded(0, 1-forward, 2)
		})
}

// DoubleLoop is the deterministic task of Watkins (1989) with two loops of five
// steps from state 0. The loop 1, 2, 3, 4 needs no particular actions and pays
// 1. The loop 5, 6, 7, 8 needs action b throughout (a leads back to 0) and pays
// 2; both actions collect this reward in state 8.
func DoubleLoop() (*Task, error) {
	return task(mdp.Definition{Name: "DoubleLoop", Description: "Double loop (Watkins 1989; Dearden, Friedman & Russell 1998)",
		States: 9, Actions: 2, ActionNames: []string{"a", "b"}, Initial: []mdp.Weight{{S: 0, P: 1}}},
		func(s, a int, row *mdp.Row) {
			next := s + 1
			switch {
			case s == 0:
				next = 1 + 4*a
			case s == 4:
				next = 0
				row.Reward(1)
			case s == 8:
				next = 0
				row.Reward(2)
			case s > 4 && a == 0:
				next = 0
			}
			row.Add(next, 1)
		})
}

// Bandit is the Bernoulli bandit as a model with one state: arm a pays 1 with
// probability means[a].
func Bandit(means []float64) (*Task, error) {
	if len(means) == 0 {
		return nil, errors.New("a bandit has at least one arm")
	}
	return task(mdp.Definition{Name: "Bandit", Description: "Bernoulli bandit", States: 1, Actions: len(means)},
		func(_, a int, row *mdp.Row) {
			row.Add(0, 1)
			row.Reward(means[a])
			row.Noise.Bernoulli = true
		})
}

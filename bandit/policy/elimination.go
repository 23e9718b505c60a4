package policy

import (
	"math/rand/v2"
	"slices"
)

// elimination is the common part of the algorithms of Even-Dar, Mannor &
// Mansour (2006). They work in rounds. In each round every remaining arm is
// pulled a number of times and some arms are dropped, until one is left.
// Rewards are scaled to [0,1].
type elimination struct {
	low, width float64
	left       []int // in ascending order
	pulls      []int // in this round, of the arms in left
	sums       []float64
	turn       int // place in left
	quota      int // pulls of each arm in this round
	rewards    int // until one arm was left
}

func newElimination(n int, low, width float64) elimination {
	e := elimination{low: low, width: width, left: make([]int, n), pulls: make([]int, n), sums: make([]float64, n)}
	for i := range e.left {
		e.left[i] = i
	}
	return e
}

// Done reports whether one arm is left.
func (e *elimination) Done() bool { return len(e.left) == 1 }

// Stopped implements Stopper.
func (e *elimination) Stopped() (rewards int, is bool) { return e.rewards, e.Done() }

// Recommend implements Recommender. Where no arm has been pulled in a round yet, it is the first one left.
func (e *elimination) Recommend() int { return e.left[e.best()] }

func (e *elimination) SelectArm(*rand.Rand) int { return e.left[e.turn] }

// add records a reward and reports whether it ends the round.
func (e *elimination) add(arm int, reward float64) bool {
	if e.Done() {
		return false
	}
	e.rewards++
	place, found := slices.BinarySearch(e.left, arm)
	if !found {
		return false
	}
	e.pulls[place]++
	e.sums[place] += (reward - e.low) / e.width
	for e.pulls[e.turn] >= e.quota {
		if e.turn++; e.turn == len(e.left) {
			e.turn = 0
			return true
		}
	}
	return false
}

// mean returns the mean reward of the arm at a place of left.
func (e *elimination) mean(place int) float64 { return e.sums[place] / float64(e.pulls[place]) }

// keep drops the arms at the places of left for which stay is false.
func (e *elimination) keep(stay func(place int) bool) {
	n := 0
	for i := range e.left {
		if stay(i) {
			e.left[n], e.pulls[n], e.sums[n] = e.left[i], e.pulls[i], e.sums[i]
			n++
		}
	}
	e.left = e.left[:n]
}

// best returns the place of the arm with the largest mean reward.
func (e *elimination) best() int {
	best := 0
	for i := range e.left {
		if e.mean(i) > e.mean(best) || e.pulls[best] == 0 {
			best = i
		}
	}
	return best
}

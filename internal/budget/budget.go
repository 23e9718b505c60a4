// Package budget estimates how long a run still lasts that ends with its steps or its episodes.
package budget

import "math"

// Run is how far a run has come.
type Run struct {
	Steps int // so far
	Began int // those made before the episode under way
	Ended int // episodes
}

// Left estimates the steps that are left of a run that ends after most steps, or with so many episodes if that comes
// first; 0: it has no such number. It is at least 1. The estimate is the episodes left times the mean length of those
// that ended, less the steps of the one under way. Before the first has ended it is the steps left.
func (r Run) Left(most, episodes int) int {
	left := float64(most - r.Steps)
	if episodes > 0 && r.Ended > 0 {
		mean := float64(r.Began) / float64(r.Ended)
		left = min(left, math.Ceil(float64(float64(episodes-r.Ended)*mean)-float64(r.Steps-r.Began)))
	}
	return int(max(left, 1))
}

// End counts the end of an episode.
func (r *Run) End() { r.Began, r.Ended = r.Steps, r.Ended+1 }

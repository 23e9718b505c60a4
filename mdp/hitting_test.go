package mdp_test

import (
	"math"
	"testing"

	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// Swimming right takes 7ⁿ steps to drift back to the left end, more than a
// float64 holds for n = 400, and swimming left one a state. Right takes 10/3
// steps a state in the long run, from 61.38889 at 20 states (checked
// independently, as in mdptest).
func TestShortestTimesOfALongRiver(t *testing.T) {
	const n = 400
	task, err := catalog.RiverSwim(n)
	if err != nil {
		t.Fatal(err)
	}
	right, _, err := mdp.ShortestTimes(task.Model, n-1)
	if want := 61.388888888888886 + (n-20)*10/3.; err != nil || math.Abs(right[0]-want) > 1e-6 {
		t.Errorf("to the right end: %v steps (%v), want %v", right[0], err, want)
	}
	left, _, err := mdp.ShortestTimes(task.Model, 0)
	if err != nil || left[n-1] != n-1 {
		t.Errorf("to the left end: %v steps (%v), want %d", left[n-1], err, n-1)
	}
}

package mdp_test

import (
	"math"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// Swimming right takes 7ⁿ steps to drift back to the left end, more than a
// float64 holds for n = 400, and swimming left one per state. Right takes 10/3
// steps a state in the long run, from 61.38889 at 20 states (checked
// independently, as in mdptest).
func TestShortestTimesOfALongRiver(t *testing.T) {
	const n = 400
	task := must.Get(catalog.RiverSwim(n))(t)
	right, _, err := mdp.ShortestTimes(task.Model, n-1)
	if want := 61.388888888888886 + (n-20)*10/3.; err != nil || math.Abs(right[0]-want) > 1e-6 {
		t.Errorf("to the right end: %v steps (%v), want %v", right[0], err, want)
	}
	left, _, err := mdp.ShortestTimes(task.Model, 0)
	if err != nil || left[n-1] != n-1 {
		t.Errorf("to the left end: %v steps (%v), want %d", left[n-1], err, n-1)
	}
	// The chain of always right also gets to the left end, in about 7ⁿ steps. By the
	// recurrence of a birth and death chain, the steps from s to s−1 are d(s) = (1 +
	// up·d(s+1))/down. This is 1e168 at 200 states, and more than a float64 holds at 400.
	for _, n := range []int{200, n} {
		task := must.Get(catalog.RiverSwim(n))(t)
		c := must.Get(mdp.Induce(task.Model, mdp.Constant(n, 1)))(t)
		want, d := 0.0, 1/0.4
		for s := n - 1; s > 0; s-- {
			if s < n-1 {
				d = (1 + 0.35*d) / 0.05
			}
			want += d
		}
		if h, err := c.HittingTimes(0); err != nil || !(math.Abs(h[n-1]-want) <= 1e-9*want) && h[n-1] != want {
			t.Errorf("drifting to the left end of %d states takes %v steps (%v), want %v", n, h[n-1], err, want)
		}
	}
}

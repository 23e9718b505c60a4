package mdp_test

import (
	"math"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// Swimming right takes 10/3 steps a state in the long run, from 61.38889 at 20 states (checked
// independently, as in mdp/catalog), and swimming left one. Always right also gets to the left end,
// in 7ⁿ steps, more than a float64 holds for n = 400: no policy on the way to the diameter is
// that.
func TestDiameterOfALongRiver(t *testing.T) {
	const n = 400
	task := must.Get(catalog.RiverSwim(n))(t)
	steps, from, to, err := mdp.Diameter(task.Model)
	if want := 61.388888888888886 + (n-20)*10/3.; err != nil || from != 0 || to != n-1 || math.Abs(steps-want) > 1e-6 {
		t.Errorf("%v steps from %d to %d (%v), want %v", steps, from, to, err, want)
	}
}

package explore

import (
	"math"
	"testing"

	"github.com/rlrun/rlrun/options"
)

// Of n trials that changed nothing, and one at the beginning that counts as if it had shown all, a trial
// yields 1/(n+1) of what perfect information is worth. Trials that take its value to 0 yield all.
func TestDoubtGrowsIfTrialsShowNothing(t *testing.T) {
	problem := func(worth float64) *options.Problem {
		return &options.Problem{Arms: []options.Arm{{Name: "y"}, {Name: "x"}}, Values: []float64{0, 0, 2 * worth, -2 * worth}, Hold: 1}
	}
	var x promises
	explore := options.Decision{Choice: 1, Explore: true}
	for n := range 5 {
		if got, want := x.doubt(problem(0.3)), 1-1/float64(n+1); math.Abs(got-want) > 1e-12 {
			t.Errorf("after %d trials in vain: doubt %v, want %v", n, got, want)
		}
		x.take(problem(0.3), explore)
	}
	before := x.doubt(problem(0.3))
	x.take(problem(0.3), options.Decision{})
	if got := x.doubt(problem(0)); got != before {
		t.Errorf("what the greedy option shows counts: %v, was %v", got, before)
	}
	// A discovery raises the value. That is no reason never to explore again.
	x = promises{}
	x.take(problem(0.1), explore)
	if got := x.doubt(problem(0.4)); math.Abs(got-0.5) > 1e-12 {
		t.Errorf("after a trial that raised the value: doubt %v, want that of a trial in vain, 0.5", got)
	}
	x = promises{}
	for range 5 {
		x.take(problem(0.3), explore)
		if got := x.doubt(problem(0)); got != 0 {
			t.Errorf("trials that show all: doubt %v", got)
		}
	}
	x.take(problem(0.3), explore) // then the option is gone, and it cannot be told what was learned
	if got := x.doubt(&options.Problem{Arms: []options.Arm{{Name: "y"}}, Values: []float64{0, 0}}); got != 0 || !x.Trying {
		t.Errorf("without an option: %v, %+v", got, x)
	}
}

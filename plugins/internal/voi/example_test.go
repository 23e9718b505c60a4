package voi_test

import (
	"fmt"

	"github.com/rlrun/rlrun/plugins/internal/voi"
)

// In state 0, action 0 pays 0.8 and has been tried often. Action 1 has never been
// tried and may pay up to 1. Trying it is worth a step if many are left, and not if
// this is the last.
func ExamplePlanner() {
	planner := voi.NewPlanner(voi.NewBelief(2, 0, 1), voi.Sup)
	s := planner.AddState()
	for range 100 {
		planner.Learn(s, 0, 0.8, s)
	}
	for _, left := range []float64{1, 1000} {
		action, explores := planner.Action(s, left)
		fmt.Printf("%4.0f steps left: action %d, to explore: %v\n", left, action, explores)
	}
	// Output:
	// 1 steps left: action 0, to explore: false
	// 1000 steps left: action 1, to explore: true
}

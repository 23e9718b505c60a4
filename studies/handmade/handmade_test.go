package handmade

import (
	"math"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// If episodes follow each other, every task has one optimal reward per step,
// from any start. So scores mean the same for all agents. And the model of a
// task is always the same.
func TestTasks(t *testing.T) {
	seen := map[string]bool{}
	for _, task := range slices.Concat(Development, HeldOut, Second, Last) {
		m, err := task.Model()
		if err != nil {
			t.Fatalf("%s: %v", task.Name, err)
		}
		if seen[task.Name] || m.NumStates() < 3 || m.NumStates() > 120 || m.NumActions() > 40 {
			t.Errorf("%s: twice, or %d states and %d actions", task.Name, m.NumStates(), m.NumActions())
		}
		seen[task.Name] = true
		again := must.Get(task.Model())(t)
		for s := range m.NumStates() {
			for a := range m.NumActions() {
				if m.Reward(s, a) != again.Reward(s, a) {
					t.Fatalf("%s: another model the second time", task.Name)
				}
			}
		}
		if m, err = m.Restarting(); err != nil {
			t.Fatalf("%s: %v", task.Name, err)
		}
		best, err := mdp.SolveAverage(m, mdp.SolverConfig{})
		if err != nil {
			t.Fatalf("%s: %v", task.Name, err)
		}
		for s, gain := range best.Gain {
			if math.Abs(gain-best.Gain[0]) > 1e-6 {
				t.Errorf("%s: the optimum of state %d is %v, that of the first %v", task.Name, s, gain, best.Gain[0])
				break
			}
		}
	}
	if len(Development) != 24 || len(HeldOut) != 12 || len(Second) != 13 || len(Last) != 12 {
		t.Errorf("%d, %d, %d and %d tasks, want 24, 12, 13 and 12", len(Development), len(HeldOut), len(Second), len(Last))
	}
}

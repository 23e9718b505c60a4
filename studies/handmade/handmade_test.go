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
	for _, task := range slices.Concat(Development, HeldOut, Second, Last, Fresh) {
		m, err := task.Model()
		if err != nil {
			t.Fatalf("%s: %v", task.Name, err)
		}
		if seen[task.Name] || m.NumStates() < 3 || m.NumStates() > 200 || m.NumActions() > 40 {
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
	if len(Development) != 24 || len(HeldOut) != 12 || len(Second) != 13 || len(Last) != 12 || len(Fresh) != 25 {
		t.Errorf("%d, %d, %d, %d and %d tasks, want 24, 12, 13, 12 and 25", len(Development), len(HeldOut), len(Second), len(Last), len(Fresh))
	}
}

// To choose uniformly at random is worse than the optimum by at least a hundredth of the
// range of rewards.
func TestFreshCanBeLearned(t *testing.T) {
	for _, task := range Fresh {
		m := must.Get(task.Model())(t)
		low, high := m.RewardBounds()
		m = must.Get(m.Restarting())(t)
		best := must.Get(mdp.SolveAverage(m, mdp.SolverConfig{}))(t)
		mu, _, err := mdp.Stationary(m, mdp.Uniform{})
		if err != nil {
			t.Fatalf("%s: %v", task.Name, err)
		}
		uniform := 0.0
		for s, p := range mu {
			for a := range m.NumActions() {
				uniform += p * m.Reward(s, a) / float64(m.NumActions())
			}
		}
		if best.Gain[0]-uniform < 0.01*(high-low) {
			t.Errorf("%s: %v uniformly at random, the optimum is %v", task.Name, uniform, best.Gain[0])
		}
	}
}

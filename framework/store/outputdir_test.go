package store

import "testing"

// Names of plots are those of environments and metrics.
func TestIsPlot(t *testing.T) {
	for name, want := range map[string]bool{
		"all-regret": true, "gaussian-bandit-optimal_action": true, "bernoulli-bandit-16-arms-agent-loss": true,
		"gaussian-bandit": false, "gaussian-bandit-mine": false, "all-regret-mine": false, "another-regret": false,
	} {
		if got := isPlot(name, []string{"bernoulli-bandit, 16 arms", "gaussian-bandit"}); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

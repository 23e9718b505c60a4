package main

import (
	"slices"
	"testing"

	"github.com/rlrun/rlrun/framework/experiment"
	"github.com/rlrun/rlrun/internal/must"
)

// The lists name the leaderboard's agents as its config does: one that is renamed there
// would no longer be compared with.
func TestAgentsAreThoseOfTheConfig(t *testing.T) {
	cfg := must.Get(experiment.ReadConfig("../configs/leaderboard.yaml"))(t)
	plan := must.Get(experiment.Compile(cfg))(t)
	for _, name := range slices.Concat(literature, contenders) {
		if !slices.Contains(plan.Meta().Agents, name) {
			t.Errorf("configs/leaderboard.yaml has no agent %q", name)
		}
	}
}

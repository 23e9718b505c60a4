package main

import (
	"slices"
	"testing"

	"github.com/rlrun/rlrun/framework/experiment"
)

// The lists name the leaderboard's agents as its config does: one that is renamed there
// would no longer be compared with.
func TestAgentsAreThoseOfTheConfig(t *testing.T) {
	cfg, err := experiment.ReadConfig("../../configs/leaderboard.yaml")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := experiment.Compile(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Concat(literature, contenders) {
		if !slices.Contains(plan.Meta().Agents, name) {
			t.Errorf("configs/leaderboard.yaml has no agent %q", name)
		}
	}
}

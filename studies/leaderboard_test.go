package main

import (
	"slices"
	"testing"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/internal/must"
)

// The lists name the leaderboard's agents as its config does: one that is renamed there
// would no longer be compared with.
func TestAgentsAreThoseOfTheConfig(t *testing.T) {
	cfg := must.Get(store.ReadConfig("../configs/leaderboard.yaml"))(t)
	p := must.Get(plan.Compile(cfg))(t)
	for _, name := range slices.Concat(literature, contenders) {
		if !slices.Contains(p.Meta().Agents, name) {
			t.Errorf("configs/leaderboard.yaml has no agent %q", name)
		}
	}
}

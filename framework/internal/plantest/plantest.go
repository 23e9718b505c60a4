// Package plantest has the plan of tests about output directories and runs.
package plantest

import (
	"testing"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/internal/must"
)

// Compile compiles a small config, of two agents in one environment; change may be nil.
func Compile(t testing.TB, change func(*plan.Config)) *plan.Plan {
	t.Helper()
	cfg := plan.Config{
		Name: "test", Runs: 23, Steps: 50,
		Environments: []plan.Component{{Name: "coin", Plugin: "coin"}},
		Agents:       []plan.Component{{Name: "one", Plugin: "alternate"}, {Name: "two", Plugin: "alternate"}},
	}
	if change != nil {
		change(&cfg)
	}
	return must.Get(plan.Compile(cfg))(t)
}

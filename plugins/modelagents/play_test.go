package modelagents

import (
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
	"github.com/rlrun/rlrun/plugins/tabular"
)

// What tests know by name, and how they play it.
var (
	plugins    = agenttest.Plugins(append(tabular.Plugins(), Plugins()...))
	find       = plugins.Find
	play       = plugins.Play
	playHosted = plugins.PlayHosted
)

// newLane returns one lane of an agent in its first run.
func newLane[L finite.Learner](t *testing.T, agent, params string, spec framework.Spec) L {
	t.Helper()
	return agenttest.Lane[L](t, find(t, agent), params, spec)
}

// newAgent returns one lane of an agent with a model in its first run.
func newAgent(t *testing.T, agent, params string, spec framework.Spec) *modelbased.Learner {
	t.Helper()
	return newLane[*modelbased.Learner](t, agent, params, spec)
}

package modelagents

import (
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/explore"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/tabular"
)

func plugins() []framework.Plugin { return append(tabular.Plugins(), Plugins()...) }

// find returns the agent or environment of a name.
func find(t testing.TB, name string) framework.Plugin {
	t.Helper()
	return agenttest.Find(t, plugins(), name)
}

// newLane returns one lane of an agent in its first run.
func newLane[L finite.Learner](t *testing.T, agent, params string, spec framework.Spec) L {
	t.Helper()
	return agenttest.Lane[L](t, find(t, agent), params, spec)
}

// play runs an agent in an environment, n runs from first on.
func play(t testing.TB, env, envParams, agent, agentParams string, first, n, steps int, grid []int, metrics ...result.Metric) []loop.Outcome {
	t.Helper()
	return playHosted(t, env, envParams, agent, agentParams, nil, first, n, steps, grid, metrics...)
}

// playHosted is play; unless host is nil, the host decides when to explore.
func playHosted(t testing.TB, env, envParams, agent, agentParams string, host *explore.Options, first, n, steps int, grid []int, metrics ...result.Metric) []loop.Outcome {
	t.Helper()
	return agenttest.Play(t, plugins(), env, envParams, agent, agentParams, host, first, n, steps, grid, metrics...)
}

package plugin_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// told is all that a batch of runs yields.
type told struct {
	outcomes []loop.Outcome
	saved    []string // with the steps after which
}

// Environment and agent in one process or two: curves, metrics of the agent, saved agents and evaluations
// are the same.
func TestTogetherAsApart(t *testing.T) {
	const script = "testdata/mixed.py"
	ids, numbers := []string{"CartPole-v1", "FrozenLake-v1", "Pendulum-v1"}, []int{3, 1, 6}
	if testing.Short() { // each task takes seconds; make ci does them
		ids, numbers = ids[:1], numbers[:1]
	}
	for _, id := range ids {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			named := plugin.LaunchConfig{Name: "same"}
			envs, agents := launchPython(t, named, "-m", "rlrun.from_gymnasium", id), launchPython(t, named, script)
			named.Guest = "gymnasium:" + id
			both := launchPython(t, named, script)
			guest := must.Get(both.Guest(t.Context()))(t)
			for _, params := range []string{`{}`, `{"spoils": true}`} {
				for _, lanes := range numbers {
					play := func(envs, agents *plugin.Process, episodes int, grid ...int) (out told) {
						env := must.Get(envs.OpenEnvironment(t.Context(), nil, lanes))(t)
						defer env.Close()
						open := func() vector.Agent {
							return must.Get(agents.OpenAgent(t.Context(), []byte(params), env.Spec(), lanes))(t)
						}
						agent := open()
						defer agent.Close()
						evaluated, evaluating := must.Get(envs.OpenEnvironment(t.Context(), nil, lanes))(t), open()
						defer evaluated.Close()
						defer evaluating.Close()
						runs, keep, evaluate := []int{0, 1, 2, 3, 4, 5}[:lanes], 90, 110
						if episodes > 0 {
							keep, evaluate = 2, 3
						}
						ahead := agent.Abilities().Join(env)
						if (ahead != nil) != (envs.Pid() == agents.Pid()) {
							t.Fatal("joined, and apart; or not joined, and together")
						}
						out.outcomes = must.Get(loop.Run(t.Context(), loop.Batch{Environment: env, Agent: agent, Runs: runs, Seeds: seed.NewSource(3, env.Spec().ID),
							Steps: 240, Episodes: episodes, Grid: grid, Discount: 0.9, Ahead: ahead,
							Metrics: []result.Metric{result.Reward, "agent.seen"},
							Keep: func(run, _ int, s *loop.Snapshot) error {
								out.saved = append(out.saved, fmt.Sprintf("%d %d %x", run, s.Step, s.State))
								return nil
							}, KeepEvery: keep,
							Evaluation: &loop.Evaluation{Environment: evaluated, Agent: evaluating, Every: evaluate, Episodes: 2, Limit: 30},
						}))(t)
						slices.Sort(out.saved)
						return out
					}
					for episodes, grid := range map[int][]int{0: {1, 50, 100, 230}, 5: {1, 4, 5}} {
						apart, together := play(envs, agents, episodes, grid...), play(guest, both, episodes, grid...)
						if a, b := fmt.Sprintf("%+v", apart), fmt.Sprintf("%+v", together); a != b { // NaN included
							t.Errorf("%s, %d lanes, %d episodes:\napart %s\ntogether %s", params, lanes, episodes, a, b)
						}
						if len(apart.saved) == 0 {
							t.Errorf("%s, %d lanes, %d episodes: it tests nothing", params, lanes, episodes)
						}
					}
				}
			}
		})
	}
}

package tabularagents

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/plugins/tabular"
)

// find returns the agent or environment of a name.
func find(t testing.TB, name string) framework.Plugin {
	t.Helper()
	for _, p := range append(tabular.Plugins(), Plugins()...) {
		d, err := p.Describe(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(d.ID, "rlrun/"+name+"@") {
			return p
		}
	}
	t.Fatalf("no plugin %s", name)
	return nil
}

// play runs an agent in an environment, n runs from first on.
func play(t testing.TB, env, envParams, agent, agentParams string, first, n, steps int, grid []int, metrics ...result.Metric) []loop.Outcome {
	t.Helper()
	e, err := find(t, env).OpenEnvironment(context.Background(), json.RawMessage(envParams), n)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	a, err := find(t, agent).OpenAgent(context.Background(), json.RawMessage(agentParams), e.Spec(), n)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	runs := make([]int, n)
	for i := range runs {
		runs[i] = first + i
	}
	out, err := loop.Run(context.Background(), loop.Batch{
		Environment: e, Agent: a, Runs: runs, Seeds: seed.NewSource(1, e.Spec().ID),
		Steps: steps, Grid: grid, Discount: 0.99, Metrics: metrics,
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// BenchmarkStep is a step of RiverSwim-6, continuing, through the whole loop, on
// one core.
func BenchmarkStep(b *testing.B) {
	for _, tt := range []struct{ name, agent, params string }{
		{"q-learning", "q-learning", ``},
		{"q-learning/harmonic", "q-learning", `{"schedule":"harmonic"}`},
		{"q-learning/epsilon-z-greedy", "q-learning", `{"policy":"epsilon-z-greedy"}`},
		{"q-learning/softmax", "q-learning", `{"policy":"softmax"}`},
		{"sarsa", "sarsa", ``},
		{"sarsa/lambda=0", "sarsa", `{"lambda":0}`},
		{"dyna-q", "dyna-q", ``},
		{"ucbvi", "ucbvi", ``},
	} {
		b.Run(tt.name, func(b *testing.B) {
			const n, steps = 4, 100_000
			total := 0
			b.ReportAllocs()
			for b.Loop() {
				play(b, "riverswim", `{"limit":0}`, tt.agent, tt.params, total, n, steps, loop.LogGrid(200, steps), result.Reward, result.Regret)
				total += n * steps
			}
			b.ReportMetric(float64(total)/b.Elapsed().Seconds()/1e6, "Msteps/s")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(total), "ns/step")
		})
	}
}

// BenchmarkPSRL is 30 seeds × 2,000 episodes of PSRL on RiverSwim-6 with episodes
// of 20 steps, through the whole loop, on two cores.
func BenchmarkPSRL(b *testing.B) {
	const seeds, cores, steps = 30, 2, 2000 * 20
	for b.Loop() {
		var wg sync.WaitGroup
		for w := range cores {
			wg.Go(func() {
				play(b, "riverswim", `{"limit":20}`, "psrl", `{"horizon":20}`, w*seeds/cores, seeds/cores, steps, loop.LogGrid(200, steps), result.EpisodeReturn)
			})
		}
		wg.Wait()
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/experiment")
}

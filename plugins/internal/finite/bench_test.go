package finite_test

import (
	"sync"
	"testing"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/framework/explore"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/cputime"
	"github.com/rlrun/rlrun/options"
)

// BenchmarkStep is a step of RiverSwim-6, continuing, through the whole loop, in processor
// time.
func BenchmarkStep(b *testing.B) {
	hosted := func(rule options.DeciderConfig, window int) *explore.Config {
		rule.Horizon = bandit.Discounted(0.99)
		return &explore.Config{Decider: rule, Commitment: options.CommitmentConfig{Fixed: window}}
	}
	for _, tt := range []struct {
		name, agent, params string
		host                *explore.Config
	}{
		{"q-learning", "q-learning", ``, nil},
		{"q-learning/harmonic", "q-learning", `{"schedule":"harmonic"}`, nil},
		{"q-learning/epsilon-z-greedy", "q-learning", `{"policy":"epsilon-z-greedy"}`, nil},
		{"q-learning/softmax", "q-learning", `{"policy":"softmax"}`, nil},
		{"sarsa", "sarsa", ``, nil},
		{"sarsa/lambda=0", "sarsa", `{"lambda":0}`, nil},
		{"bootstrap-q/mean", "bootstrap-q", `{"replays":0,"behaviour":"mean"}`, nil},
		{"bootstrap-q/thompson", "bootstrap-q", `{"replays":0}`, nil},
		{"bootstrap-q/poisson", "bootstrap-q", `{"replays":0,"update":"poisson"}`, nil},
		{"bootstrap-q/exponential", "bootstrap-q", `{"replays":0,"update":"exponential"}`, nil},
		{"bootstrap-q/harmonic", "bootstrap-q", `{"replays":0,"schedule":"harmonic"}`, nil},
		{"bootstrap-q/paired", "bootstrap-q", `{"replays":0}`, hosted(options.DeciderConfig{Rule: options.RuleCommonModel}, 0)},
		{"bootstrap-q/paired/T=10", "bootstrap-q", `{"replays":0}`, hosted(options.DeciderConfig{Rule: options.RuleCommonModel}, 10)},
		{"bootstrap-q/paired/T=1", "bootstrap-q", `{"replays":0}`, hosted(options.DeciderConfig{Rule: options.RuleCommonModel}, 1)},
		{"bootstrap-q/actions/paired", "bootstrap-q", `{"replays":0,"values":"actions"}`, hosted(options.DeciderConfig{Rule: options.RuleCommonModel}, 0)},
		{"bootstrap-q/evaluated=16/paired", "bootstrap-q", `{"replays":0,"evaluated":16}`, hosted(options.DeciderConfig{Rule: options.RuleCommonModel}, 0)},
		{"bootstrap-q/index", "bootstrap-q", `{"replays":0}`, hosted(options.DeciderConfig{Rule: options.RuleIndex, Bound: bandit.V}, 0)},
		{"bootstrap-q/replays=100", "bootstrap-q", ``, nil},
		{"bootstrap-model", "bootstrap-model", ``, nil},
		{"bootstrap-model/paired", "bootstrap-model", ``, hosted(options.DeciderConfig{Rule: options.RuleCommonModel}, 0)},
		{"bootstrap-model/average/index", "bootstrap-model", `{"criterion":"average"}`, hosted(options.DeciderConfig{Rule: options.RuleIndex, Bound: bandit.V}, 0)},
		{"bayesian-q", "bayesian-q", ``, nil},
		{"bayesian-q/moment/sampling", "bayesian-q", `{"update":"moment","select":"sampling"}`, nil},
		{"dyna-q", "dyna-q", ``, nil},
		{"ucbvi", "ucbvi", ``, nil},
		{"psrl", "psrl", ``, nil},
		{"boss", "boss", ``, nil},
		{"ucrl2", "ucrl2", ``, nil},
		{"mbie-eb", "mbie-eb", ``, nil},
		{"optimistic-model", "optimistic-model", ``, nil},
		{"r-max", "r-max", ``, nil},
		{"e3", "e3", ``, nil},
	} {
		b.Run(tt.name, func(b *testing.B) {
			const n, steps = 4, 100_000
			total, plugins := 0, plugins() // whose schemas are no part of a step
			b.ReportAllocs()
			start := cputime.Whole()
			for b.Loop() {
				plugins.PlayHosted(b, "riverswim", `{"limit":0}`, tt.agent, tt.params, tt.host, total, n, steps, loop.LogGrid(200, steps), result.Reward, result.Regret)
				total += n * steps
			}
			ns := float64((cputime.Whole() - start).Nanoseconds()) / float64(total)
			b.ReportMetric(1e3/ns, "Msteps/s")
			b.ReportMetric(ns, "ns/step")
		})
	}
}

// BenchmarkPSRL is 30 seeds × 2,000 episodes of PSRL on RiverSwim-6 with episodes
// of 20 steps, through the whole loop, on two cores.
func BenchmarkPSRL(b *testing.B) {
	const seeds, cores, steps = 30, 2, 2000 * 20
	plugins := plugins()
	for b.Loop() {
		var wg sync.WaitGroup
		for w := range cores {
			wg.Go(func() {
				plugins.PlayHosted(b, "riverswim", `{"limit":20}`, "psrl", `{"horizon":20}`, nil, w*seeds/cores, seeds/cores, steps, loop.LogGrid(200, steps), result.EpisodeReturn)
			})
		}
		wg.Wait()
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/experiment")
}

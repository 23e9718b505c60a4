package modelagents

import (
	"testing"

	"github.com/rlrun/rlrun/framework/result"
)

// What agents earn in tasks that have to be explored, in the last steps of a run. RiverSwim
// without episodes has the optimum 0.4286 per step, and Q-learning earns less than 0.05
// (TestOptimismExplores). With episodes of 20 steps its best mean return is 3.397. The goal
// of the grid is 8 steps away and pays 1, so that the optimum is 0.125; a random walk earns
// less than 0.02. DeepSea-10's diagonal is worth 0.099.
func TestWhatExploringEarns(t *testing.T) {
	const best = 0.4286
	for _, tt := range []struct {
		env, envParams, agent, params string
		runs, from, steps             int
		metric                        result.Metric
		low, high                     float64
	}{
		{"riverswim", `{"limit":0}`, "beb", ``, 5, 2500, 5000, result.Reward, 0.38, best + 0.02},
		{"riverswim", `{"limit":0}`, "beb", `{"beta":0}`, 5, 2500, 5000, result.Reward, 0, 0.1}, // no bonus
		{"riverswim", `{"limit":0}`, "mbie", ``, 5, 2500, 5000, result.Reward, 0.38, best + 0.02},
		{"riverswim", `{"limit":0}`, "mbie", `{"scaling":1e-9}`, 5, 2500, 5000, result.Reward, 0, 0.1}, // intervals of hardly any width
		{"riverswim", `{"limit":0}`, "mbie-eb", ``, 5, 5000, 10_000, result.Reward, 0.4, best + 0.02},
		{"riverswim", `{"limit":0}`, "e3", `{"m":15}`, 10, 5000, 10_000, result.Reward, 0.38, best + 0.02},
		{"riverswim", `{"limit":0}`, "ucrl2", `{"scaling":0.1}`, 10, 10_000, 20_000, result.Reward, 0.4, best + 0.01}, // sets a tenth as wide
		{"riverswim", `{"limit":0}`, "r-max", `{"m":30}`, 10, 5000, 10_000, result.Reward, 0.4, best + 0.02},
		{"riverswim", `{"limit":0}`, "r-max", `{"m":30,"horizon":100}`, 10, 5000, 10_000, result.Reward, 0.35, best + 0.02},
		{"deepsea", ``, "r-max", `{"m":1}`, 10, 5000, 10_000, result.Reward, 0.098, 0.0991},
		{"riverswim", `{"limit":0}`, "psrl", `{}`, 10, 10_000, 20_000, result.Reward, 0.36, best + 0.01},
		{"riverswim", `{"limit":0}`, "psrl", average, 10, 10_000, 20_000, result.Reward, 0.36, best + 0.01},
		{"riverswim", `{"limit":0}`, "psrl", `{"resample":"geometric"}`, 10, 10_000, 20_000, result.Reward, 0.36, best + 0.01},
		{"riverswim", `{"limit":0}`, "psrl", `{"criterion":"average","resample":"geometric"}`, 10, 10_000, 20_000, result.Reward, 0.36, best + 0.01},
		{"riverswim", `{"limit":0}`, "psrl", `{"horizon":40}`, 10, 10_000, 20_000, result.Reward, 0.36, best + 0.01},
		// Optimism over five models does better than one.
		{"riverswim", `{"limit":0}`, "psrl", `{"samples":5}`, 10, 10_000, 20_000, result.Reward, 0.4, best + 0.01},
		{"riverswim", `{"limit":0}`, "psrl", `{"samples":5,"merge":"actions"}`, 10, 10_000, 20_000, result.Reward, 0.4, best + 0.01},
		{"gridworld", ``, "psrl", `{"tau":1000,"alpha":0.04}`, 3, 7500, 10_000, result.Reward, 0.08, 0.125},
		{"gridworld", ``, "psrl", `{"tau":1000,"alpha":0.04,"horizon":8}`, 3, 7500, 10_000, result.Reward, 0.08, 0.125},
		// Bonuses a tenth of the theory's.
		{"riverswim", `{"limit":20}`, "ucbvi", `{"scaling":0.1}`, 10, 10_000, 20_000, result.EpisodeReturn, 2.9, 3.6},
		{"riverswim", `{"limit":20}`, "gaussian-psrl", `{"scaling":0.1}`, 10, 10_000, 20_000, result.EpisodeReturn, 2.9, 3.6},
	} {
		if got := plugins.Earns(t, tt.env, tt.envParams, tt.agent, tt.params, tt.runs, tt.from, tt.steps, tt.metric); got < tt.low || got > tt.high {
			t.Errorf("%s%s in %s%s: %s %.4f, want [%v, %v]", tt.agent, tt.params, tt.env, tt.envParams, tt.metric, got, tt.low, tt.high)
		}
	}
}

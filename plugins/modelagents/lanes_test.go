package modelagents

import (
	"fmt"
	"testing"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/framework/explore"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/options"
)

// Models above options.Eliminated states are solved by iteration from their last
// solutions, whose memory lanes keep. FourRooms has 104. The results of a run are the
// same, bit for bit, alone, with two others and with seven.
func TestLargeModelsDoNotDependOnLanes(t *testing.T) {
	const runs = 8
	steps := 300
	if raced {
		steps = 50
	}
	for _, score := range []*options.Rule{options.RuleOptimistic, options.RuleOptimisticStochastic} {
		t.Run(score.String(), func(t *testing.T) {
			t.Parallel()
			host := &explore.Config{Decider: options.DeciderConfig{Rule: score, Horizon: bandit.Discounted(0.99)}, Log: steps}
			explored := 0.0
			batch := func(first, n int) (out []string) {
				for _, o := range playHosted(t, "fourrooms", `{"continuing":true}`, "bootstrap-model", `{"members":2}`, host, first, n, steps, []int{steps / 2, steps}, result.Reward, result.MixingTime, result.ExplorationShare) {
					out = append(out, fmt.Sprint(o))
					explored += o.Curves[result.ExplorationShare][0]
				}
				return out
			}
			all := batch(0, runs)
			if explored == 0 {
				t.Error("nothing was ever explored")
			}
			for _, some := range [][2]int{{0, 1}, {5, 1}, {2, 3}} { // the first run and how many
				for k, got := range batch(some[0], some[1]) {
					if want := all[some[0]+k]; got != want {
						t.Fatalf("run %d of %d: got %s, want %s", some[0]+k, some[1], got, want)
					}
				}
			}
		})
	}
}

package banditagent

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/rlrun/rlrun/bandit/policy"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/stat"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// Relabelled arms: every policy earns as much with the best arm first as with the best arm last.
// Rewards are Bernoulli, of mean 0.9 for the best arm and 0.1 for the four others. Each of some 70
// cases is a t test of the difference between independent runs, at the level 1e-5. So the test fails by
// chance with a probability below 1e-3. The seeds are fixed.
func TestRelabelledArms(t *testing.T) {
	const runs, steps = 200, 30
	play := func(params json.RawMessage, best int64, first uint64) []float64 {
		a, err := Plugin().OpenAgent(t.Context(), params, bernoulli, runs)
		if err != nil { // the policy does not work with the belief
			return nil
		}
		defer a.Close()
		in, actions := vector.NewFeedback(bernoulli, runs), space.NewColumn(bernoulli.Action, runs)
		earned, rngs := make([]float64, runs), make([]*rand.Rand, runs)
		for i := range runs {
			in.Signals[i], in.Seeds[i] = vector.NewRun, first+uint64(i)
			rngs[i] = rand.New(rand.NewPCG(first+uint64(i), 1))
		}
		for range steps {
			must.Do(t, a.Step(t.Context(), in, &actions))
			for i := range runs {
				in.Signals[i], in.Rewards[i] = vector.Continue, 0
				mean := 0.1
				if actions.Int64[i] == best {
					mean = 0.9
				}
				if rngs[i].Float64() < mean {
					in.Rewards[i] = 1
				}
				earned[i] += in.Rewards[i]
			}
		}
		return earned
	}
	for _, kind := range policy.Kinds() {
		tried := 0
		for _, more := range cases[kind.Name] {
			for _, belief := range []string{`null`, `{"kind":"beta"}`} {
				params := json.RawMessage(fmt.Sprintf(`{"policy":{"kind":%q%s},"belief":%s}`, kind.Name, more, belief))
				first, last := play(params, 0, 1), play(params, bernoulli.Action.(space.Discrete).N-1, 1+runs)
				if first == nil {
					continue
				}
				tried++
				if w := stat.Welch(first, last, 0.95); w.P < 1e-5 {
					t.Errorf("%s: earns %.3g with the best arm first and %.3g with the best arm last (difference %.3g ± %.2g, p = %.1g)", params, stat.Mean(first), stat.Mean(last), w.Value, (w.High-w.Low)/2, w.P)
				}
			}
		}
		if tried < len(cases[kind.Name]) {
			t.Errorf("%s: only %d of the parameters were tried", kind.Name, tried)
		}
	}
}

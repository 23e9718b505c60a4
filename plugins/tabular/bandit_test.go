package tabular

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp/catalog"
	"github.com/rlrun/rlrun/plugins/bernoullibandit"
)

// The model that the bandit plugin tells is the catalogue's, and its rewards have
// that model's means: six standard errors, a false alarm in 5e8 seeds.
func TestBanditIsTheCatalogues(t *testing.T) {
	means := []float64{0, 0.2, 0.7, 1}
	task := must.Get(catalog.Bandit(means))(t)
	env := must.Get(bernoullibandit.Plugin().OpenEnvironment(t.Context(), json.RawMessage(`{"means":[0,0.2,0.7,1]}`), 1))(t)
	defer env.Close()
	actions, out := vector.NewActions(env.Spec(), 1), vector.NewTimeSteps(env.Spec(), 1)
	actions.Signals[0], actions.Seeds[0] = vector.NewRun, 5
	must.Do(t, env.Step(t.Context(), actions, &out))
	models := must.Get(vector.Models(t.Context(), env))(t)
	got, want := models[0], task.Model
	if got.NumStates() != 1 || got.NumActions() != len(means) {
		t.Fatalf("%d states, %d actions", got.NumStates(), got.NumActions())
	}
	actions.Signals[0] = vector.Continue
	for a, mean := range means {
		next, prob := got.Transition(0, a)
		wantNext, wantProb := want.Transition(0, a)
		if !slices.Equal(next, wantNext) || !slices.Equal(prob, wantProb) || got.Reward(0, a) != want.Reward(0, a) || got.Noise(0, a) != want.Noise(0, a) {
			t.Errorf("arm %d: %v %v %v %v", a, next, prob, got.Reward(0, a), got.Noise(0, a))
		}
		const pulls = 10_000
		sum := 0.0
		for range pulls {
			actions.Actions.Int64[0] = int64(a)
			must.Do(t, env.Step(t.Context(), actions, &out))
			sum += out.Rewards[0]
		}
		if d := sum/pulls - mean; d*d > 36*mean*(1-mean)/pulls {
			t.Errorf("arm %d pays %v, want %v", a, sum/pulls, mean)
		}
	}
}

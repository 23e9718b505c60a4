package modelagents

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// value returns the optimal value of a state under a criterion: with 3 steps to go,
// discounted by 0.9, or the gain.
func value(t *testing.T, criterion string, m mdp.Model, s int) float64 {
	t.Helper()
	switch criterion {
	case "horizon":
		sol := must.Get(mdp.SolveFinite(m, 3))(t)
		return sol.Value[3][s]
	case "average":
		sol := must.Get(mdp.SolveAverage(m, mdp.SolverConfig{}))(t)
		return sol.Gain[s]
	}
	sol := must.Get(mdp.SolveDiscounted(m, 0.9, mdp.SolverConfig{}))(t)
	return sol.Value[s]
}

// policy returns the first action of a plan made for criterion in every state.
func policy(x *modelbased.Learner) mdp.Deterministic {
	all := x.Planner.(*modelbased.Solver).Policy
	return all[len(all)-1]
}

// The best of several models has the largest value in the present state, and its policy
// is followed.
func TestBestOfSamples(t *testing.T) {
	for criterion, params := range map[string]string{
		"horizon": `{"samples":4,"horizon":3}`, "discounted": `{"samples":4,"gamma":0.9}`, "average": `{"samples":4,"criterion":"average"}`,
	} {
		x := newPSRL(t, params)
		rng := rand.New(rand.NewPCG(1, 1))
		chosen := make([]int, 4)
		for range 200 {
			s := rng.IntN(3)
			x.Begin(s)
			best, k := 0.0, -1
			for j, m := range samples(x) {
				if v := value(t, criterion, m, s); k < 0 || v > best {
					best, k = v, j
				}
			}
			chosen[k]++
			alone := newPSRL(t, params)
			alone.Planner.(*modelbased.Solver).Solve(samples(x)[k], s, best-1)
			if !slices.Equal(policy(x), policy(alone)) {
				t.Fatalf("%s: policy %v, want %v", criterion, policy(x), policy(alone))
			}
			x.Step(rng.Float64(), rng.IntN(3))
		}
		if slices.Min(chosen) < 20 {
			t.Errorf("%s: best was each model %v times", criterion, chosen)
		}
	}
}

// In the merged model every state is worth at least as much as in any of the
// models, and the action is one of the task's.
func TestBOSSMergesActions(t *testing.T) {
	for criterion, params := range map[string]string{
		"horizon": `{"samples":4,"merge":"actions","horizon":3}`, "discounted": `{"samples":4,"merge":"actions","gamma":0.9}`, "average": `{"samples":4,"merge":"actions","criterion":"average"}`,
	} {
		x := newPSRL(t, params)
		mixed := false
		for range 50 {
			a := x.Begin(1)
			var all merged
			for _, one := range samples(x) {
				all = append(all, one)
			}
			m := all
			if m.NumActions() != 8 || a != policy(x)[1]%2 {
				t.Fatalf("%s: %d actions, action %d of %v", criterion, m.NumActions(), a, policy(x))
			}
			for s := range 3 {
				for _, one := range samples(x) {
					if all, v := value(t, criterion, m, s), value(t, criterion, one, s); all < v-1e-9 {
						t.Fatalf("%s, state %d: %v, in one of the models %v", criterion, s, all, v)
					}
				}
				mixed = mixed || policy(x)[s]/2 != policy(x)[0]/2
			}
			for b := range 8 {
				if m.Reward(2, b) != samples(x)[b/2].Reward(2, b%2) {
					t.Fatal("an action pays what it does in no model")
				}
			}
		}
		if !mixed {
			t.Errorf("%s: no policy uses more than one model", criterion)
		}
	}
}

// With resample visits models are drawn for a run and when a pair has been visited
// so often, neither earlier nor again.
func TestResampleAtVisits(t *testing.T) {
	x := newPSRL(t, `{"resample":"visits","visits":5}`)
	rng := rand.New(rand.NewPCG(1, 1))
	x.Begin(0)
	counts, drawn := make([]int, 6), 0
	for k := range 2000 {
		i := x.State*2 + x.Action
		counts[i]++
		step := func() { x.Step(rng.Float64(), rng.IntN(3)) }
		if k%7 == 0 {
			step = func() {
				x.End(rng.Float64(), 1, false)
				x.Begin(rng.IntN(3))
			}
		}
		want := counts[i] == 5
		if got := resampled(x, step); got != want {
			t.Fatalf("visits %v: models were drawn: %v", counts, got)
		}
		if want {
			drawn++
		}
	}
	if drawn < 3 {
		t.Errorf("models were drawn %d times", drawn)
	}
	x.Start(2)
	if !resampled(x, func() { x.Begin(0) }) {
		t.Error("no models were drawn for a run")
	}
}

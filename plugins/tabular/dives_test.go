package tabular

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// dived plays a run of so many episodes in one lane of DeepSea, and returns how many were bad and when the run
// had solved the task.
func dived(t *testing.T, env *lanes, episodes int, act func(state int) int) (bad, solved float64) {
	in, out := vector.Actions{Signals: []vector.Signal{vector.NewRun}, Seeds: []uint64{7}, Actions: space.NewColumn(env.spec.Action, 1)}, vector.NewTimeSteps(env.spec, 1)
	for range episodes {
		must.Do(t, env.Step(t.Context(), &in, &out))
		for in.Signals[0] = vector.Continue; !out.Terminated[0]; {
			in.Actions.Int64[0] = int64(act(int(out.Observations.Int64[0])))
			must.Do(t, env.Step(t.Context(), &in, &out))
		}
		in.Signals[0] = vector.NewEpisode
		in.Seeds[0]++
	}
	dst := make([]float64, 2)
	must.Do(t, env.Abilities().Measures.Read(t.Context(), []int{0}, dst))
	return dst[0], dst[1]
}

// A policy that always dives right solves DeepSea with the first episode that counts. Random actions do not in a few
// episodes. A run begins anew. A policy that dives left in k episodes and then right solves it with the first n with k/n < 0.9.
func TestSolvedAt(t *testing.T) {
	for params, first := range map[string]float64{`{"mapped":true}`: 1, `{}`: 1, `{"mapped":true,"stochastic":true}`: 100} {
		env := open(t, "deepsea", params, 1)
		right := func(s int) int { return max(0, env.task.Dives.Way[s]) }
		rng := rand.New(rand.NewPCG(1, 2))
		if bad, solved := dived(t, env, 150, func(int) int { return rng.IntN(2) }); first == 1 && (bad < 148 || !math.IsNaN(solved)) {
			t.Errorf("%s: random actions have %v bad episodes and solve at %v", params, bad, solved)
		}
		if bad, solved := dived(t, env, 150, right); bad != 0 || solved != first {
			t.Errorf("%s: %v bad episodes, solved at %v, want 0 and %v", params, bad, solved, first)
		}
		if _, solved := dived(t, env, int(first)-1, right); first > 1 && !math.IsNaN(solved) {
			t.Errorf("%s: solved at %v in %v episodes", params, solved, first-1)
		}
		steps := 0
		bad, solved := dived(t, env, 150, func(s int) int { // 90 episodes of 10 steps to the left
			if steps++; steps <= 900 {
				return 1 - right(s)
			}
			return right(s)
		})
		if want := map[float64]float64{1: 101, 100: 113}[first]; bad != 90 || solved != want { // 90/101 < 0.9, 90/113 < 0.8
			t.Errorf("%s: %v bad episodes, solved at %v, want 90 and %v", params, bad, solved, want)
		}
	}
}

// A move to the left is bad only on the way to the treasure: after a failed move to the right it is not.
func TestBadEpisodes(t *testing.T) {
	env := open(t, "deepsea", `{"size":3,"stochastic":true}`, 1)
	failed := 0.0
	bad, _ := dived(t, env, 200, func(s int) int {
		if s == 0 || s == 2 { // the first two cells of the diagonal
			return 1
		}
		if s == 5 {
			return 0
		}
		if s == 3 || s == 4 { // the last row, off the diagonal
			failed++
		}
		return 0
	})
	if bad+failed != 200 || failed < 60 { // 1 − (2/3)² of them are expected
		t.Errorf("%v episodes are bad, and in %v a move failed", bad, failed)
	}
	for _, params := range []string{`{"empty":true}`, `{"continuing":true}`} {
		if m := open(t, "deepsea", params, 1).Abilities().Measures; m != nil {
			t.Errorf("%s has metrics", params)
		}
	}
}

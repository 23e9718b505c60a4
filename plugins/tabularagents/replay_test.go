package tabularagents

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// newReplayQ returns a started learner with replays for 5 states and 3 actions.
func newReplayQ(t testing.TB, params string, spec framework.Spec) *bootstrapQ {
	t.Helper()
	spec.Observation, spec.Action = space.Discrete{N: 5}, space.Discrete{N: 3}
	return agenttest.Lane[*bootstrapQ](t, BootstrapQ(), params, spec)
}

// Every member's values solve its weighted regression over the steps seen, whose weights
// are drawn here again from a stream of the same seed: by sweeps, and by a solution.
func TestReplaysSolveTheRegression(t *testing.T) {
	const gamma, w0, members = 0.9, 0.05, 3
	for _, solved := range []bool{false, true} {
		params := fmt.Sprintf(`{"members":%d,"gamma":%v,"prior_weight":%v,"replays":1,"behaviour":"mean"}`, members, gamma, w0)
		x := newReplayQ(t, params, agenttest.Finite)
		y := newReplayQ(t, params, agenttest.Finite)
		type step struct {
			pair, next int
			r          float64
			w          []float64
		}
		var steps []step
		rng := rand.New(rand.NewPCG(1, 1))
		for range 60 {
			e := step{pair: rng.IntN(12), next: rng.IntN(5), r: rng.Float64()*2 - 1} // nothing is tried in state 4
			e.w = append(e.w, y.sizes(e.pair, -1)...)
			if e.next == 3 {
				e.next = -1 // an end
			}
			x.replay.learn(e.pair, e.r, e.next, -1, false)
			steps = append(steps, e)
		}
		for m := range members {
			if solved {
				x.replay.solve(m)
			} else {
				x.replay.sweep(m, 1_000_000)
			}
			for i := range 15 {
				_, prior := x.replay.pair(i)
				sum, n := w0*prior[m], w0
				for _, e := range steps {
					if e.pair != i {
						continue
					}
					v := e.r
					if e.next >= 0 {
						v += gamma * x.best(e.next*3, m)
					}
					sum, n = sum+e.w[m]*v, n+e.w[m]
				}
				if got := x.q[i*members+m]; math.Abs(got-sum/n) > 5e-3 {
					t.Errorf("solved %v, member %d, pair %d: %v, want %v", solved, m, i, got, sum/n)
				}
			}
		}
	}
}

// With criterion run an end leads to where the next episode begins, with criterion episode
// it is worth nothing. A truncated step teaches like any other.
func TestReplaysAtTheEnd(t *testing.T) {
	for _, tt := range []struct {
		criterion  string
		terminated bool
		want       []int32
	}{
		{"run", true, []int32{0}}, {"episode", true, nil}, {"run", false, []int32{2}}, {"episode", false, []int32{2}},
	} {
		x := newReplayQ(t, fmt.Sprintf(`{"criterion":%q}`, tt.criterion), agenttest.Finite)
		a := x.Begin(1)
		x.End(0.5, 2, tt.terminated)
		x.Begin(0)
		row, _ := x.replay.pair(3 + a)
		if fmt.Sprint(row.next) != fmt.Sprint(tt.want) || math.Abs(row.sums[x.Members]-0.5*row.sums[0]) > 1e-12 {
			t.Errorf("%s, terminated %v: led to %v, want %v", tt.criterion, tt.terminated, row.next, tt.want)
		}
		x.Start(2)
		x.Begin(0)
		if row, _ := x.replay.pair(3 + a); row.sums != nil || len(x.replay.seen) != 0 {
			t.Errorf("%s: a run remembers the last", tt.criterion)
		}
	}
}

// On tasks for development, the default earns at least as much as Q-learning and Dyna-Q:
// RiverSwim's optimum is 0.4286 per step, and neither finds it.
func TestReplaysExplore(t *testing.T) {
	mean := map[string]float64{}
	for _, agent := range []string{"bootstrap-q", "q-learning", "dyna-q"} {
		mean[agent] = plugins.Earns(t, "riverswim", `{"limit":0}`, agent, ``, 5, 2500, 5000, result.Reward)
	}
	if mean["bootstrap-q"] < 0.37 || mean["q-learning"] > 0.1 || mean["dyna-q"] > 0.2 {
		t.Errorf("rewards per step: %v", mean)
	}
}

// In an evaluation every member counts, so all are up to date, though one alone was
// followed. Action 1 leads around five states, and pays at the end of a round.
func TestEvaluationSettlesReplays(t *testing.T) {
	spec := agenttest.Finite
	spec.Continuing, spec.RewardLow, spec.RewardHigh = true, 0, 1
	x := newReplayQ(t, ``, spec)
	for seed := range uint64(5) {
		x.Start(seed)
		s := 0
		a := x.Begin(s)
		for range 4000 {
			r := 0.0
			if a == 1 {
				if s = (s + 1) % 5; s == 0 {
					r = 1
				}
			}
			a = x.Step(r, s)
		}
		for s := range 5 {
			if a := x.GreedyAction(s); a != 1 {
				t.Errorf("seed %d: action %d in state %d", seed, a, s)
			}
		}
	}
}

// Before its first step a lane takes at most 1.3 times the memory of its values, and later more for pairs
// that were tried only.
func TestReplaysTakeMemoryForWhatIsSeen(t *testing.T) {
	const n, values = 32, 500 * 6 * 16 * 8
	spec := agenttest.Finite
	spec.Observation, spec.Action = space.Discrete{N: 500}, space.Discrete{N: 6}
	allocated := func() float64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.TotalAlloc)
	}
	before := allocated()
	a := must.Get(BootstrapQ().OpenAgent(t.Context(), nil, spec, n))(t)
	learners := lanes.Learners[int](a)
	for i, x := range learners {
		x.Start(uint64(i))
	}
	if each := (allocated() - before) / n; each > 1.3*values {
		t.Errorf("a lane takes %.0f bytes, its values %d", each, values)
	}
	before = allocated()
	for _, x := range learners {
		x.Begin(0)
		for range 100 {
			x.Step(0, 1)
		}
	}
	if each := (allocated() - before) / n; each > 100_000 {
		t.Errorf("two states take %.0f bytes more", each)
	}
}

package tabularagents

import (
	"math"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// optimal returns Q*(s,a) of a discounted model at s*A+a.
func optimal(t *testing.T, m *mdp.Tabular, gamma float64) []float64 {
	t.Helper()
	s := must.Get(mdp.SolveDiscounted(m, gamma, mdp.SolverConfig{}))(t)
	var q []float64
	for state := range m.NumStates() {
		for a := range m.NumActions() {
			v := m.Reward(state, a)
			next, prob := m.Transition(state, a)
			for k, u := range next {
				v += gamma * prob[k] * s.Value[u]
			}
			q = append(q, v)
		}
	}
	return q
}

// near fails if estimates of Q* of states that are not terminal are off by more
// than tolerance.
func near(t *testing.T, m *mdp.Tabular, got, want []float64, tolerance float64) {
	t.Helper()
	for i, x := range want {
		if s := i / m.NumActions(); !m.Terminal(s) && !(math.Abs(got[i]-x) <= tolerance) {
			t.Errorf("state %d, action %d: %.4f, want %.4f", s, i%m.NumActions(), got[i], x)
		}
	}
}

// With step sizes n^-0.8 and every action taken for ever, the estimates approach Q*
// (Watkins & Dayan 1992). At a fixed seed they are within 4% of the largest after 300,000
// steps, on a continuing task, on one that truncates, and on one that terminates.
func TestQLearningFindsTheOptimum(t *testing.T) {
	for _, tt := range []struct{ env, params string }{
		{"chain", `{"limit":0}`}, {"chain", `{"limit":5}`}, {"gridworld", `{"rows":3,"cols":3,"slip":0.2}`},
	} {
		t.Run(tt.env+tt.params, func(t *testing.T) {
			x, m := trained(t, tt.env, tt.params, "q-learning", `{"gamma":0.8,"epsilon":1,"schedule":"harmonic","power":0.8}`, 300_000)
			want := optimal(t, m, 0.8)
			near(t, m, x.(*qLearner).table.q, want, 0.04*slices.Max(want))
		})
	}
}

// Two steps by hand: α = 1/2, γ = 1/2, all values 4 at first.
func TestQLearningByHand(t *testing.T) {
	for _, tt := range []struct {
		name                  string
		terminated, truncated bool
		want                  float64
	}{
		{"goes on", false, false, 0.5*4 + 0.5*(1+0.5*4)},
		{"truncated", false, true, 0.5*4 + 0.5*(1+0.5*4)},
		{"terminated", true, false, 0.5*4 + 0.5*1},
		{"terminated and truncated", true, true, 0.5*4 + 0.5*1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := agenttest.NewCaller(t, find(t, "q-learning"), `{"step":0.5,"gamma":0.5,"initial":4}`)
			must.Do(t, c.Step(vector.NewRun, 5, 0, false, false))
			a := int(c.Actions.Int64[0]) - 1
			must.Do(t, c.Step(vector.Continue, 7, 1, tt.terminated, tt.truncated))
			want := []float64{4, 4, 4, 4, 4, 4}
			want[a] = tt.want
			if got := lanes.Learners[int](c.Agent)[0].(*qLearner).table.q; !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestStepSizes(t *testing.T) {
	for _, tt := range []struct {
		change func(*Values)
		want   []float64
	}{
		{func(*Values) {}, []float64{0.1, 0.1, 0.1}},
		{func(v *Values) { v.Schedule = "harmonic" }, []float64{1, 1. / 2, 1. / 3}},
		{func(v *Values) { v.Schedule, v.Power = "harmonic", 0.5 }, []float64{1, 1 / math.Sqrt2, 1 / math.Sqrt(3)}},
	} {
		v := defaultValues(0.1)
		tt.change(&v)
		x := newTable(&v, finite.Task{States: 1, Actions: 2})
		x.start()
		for k, want := range tt.want {
			if got := x.size(1); math.Abs(got-want) > 1e-15 {
				t.Errorf("%+v, visit %d: %v, want %v", v, k+1, got, want)
			}
		}
		if !x.constant {
			if x.start(); x.size(1) != 1 {
				t.Errorf("%+v: a run does not forget the visits", v)
			}
		}
	}
}

// An optimistic start finds RiverSwim's far end, which ε-greedy misses: of 20 runs
// of 20,000 steps, by the mean reward of the last half (the optimum is 0.4286).
func TestOptimismExplores(t *testing.T) {
	late := func(params string) float64 {
		return plugins.Earns(t, "riverswim", `{"limit":0}`, "q-learning", params, 20, 10_000, 20_000, result.Reward)
	}
	if plain, optimistic := late(`{"epsilon":0.05}`), late(`{"epsilon":0.05,"optimistic":true}`); plain > 0.05 || optimistic < 0.3 {
		t.Errorf("reward per step %.3f, with an optimistic start %.3f", plain, optimistic)
	}
}

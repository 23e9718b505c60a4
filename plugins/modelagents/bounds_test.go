package modelagents

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// Agents that need bounds on rewards want to be told where the environment has none.
func TestBoundsOnRewards(t *testing.T) {
	unbounded := agenttest.Finite
	unbounded.RewardLow, unbounded.RewardHigh = math.Inf(-1), math.Inf(1)
	for _, agent := range []string{"ucrl2", "kl-ucrl", "mbie", "mbie-eb", "beb", "optimistic-model", "r-max", "e3", "bamcp"} {
		_, err := find(t, agent).OpenAgent(t.Context(), nil, unbounded, 1)
		names, params := "reward_low and reward_high", `{"reward_low":0,"reward_high":1}`
		switch agent {
		case "r-max":
			names, params = "set reward_high", `{"reward_high":1}`
		case "e3":
			names, params = "set reward_low", `{"reward_low":0}`
		}
		if !errors.Is(err, framework.ErrUnsupported) || errors.Is(err, framework.ErrInvalidParams) || !strings.Contains(err.Error(), names) {
			t.Errorf("%s: %v", agent, err)
		}
		if _, err := find(t, agent).OpenAgent(t.Context(), json.RawMessage(params), unbounded, 1); err != nil {
			t.Errorf("%s: %v", agent, err)
		}
	}
}

// With rewards of at most −1 the largest return is −1 in an episodic task, and
// −1 at every step in a continuing one; γ = 0.9. (With T = 5 steps.)
func TestOptimismAboutLosses(t *testing.T) {
	for _, continuing := range []bool{false, true} {
		spec := agenttest.Finite
		spec.Continuing, spec.RewardLow, spec.RewardHigh = continuing, -2, -1
		want, want5 := -1.0, -1.0
		if continuing {
			want, want5 = -10, -5
		}
		q := finite.Task{Spec: spec}.LargestReturn(spec.RewardHigh, 0.9)
		m := newAgent(t, "mbie-eb", `{"gamma":0.9}`, spec)
		o := newAgent(t, "optimistic-model", `{"gamma":0.9}`, spec)
		r := newAgent(t, "r-max", `{"gamma":0.9}`, spec)
		f := newAgent(t, "r-max", `{"horizon":5}`, spec)
		m.Begin(0)
		o.Begin(0)
		r.Begin(0)
		f.Begin(0)
		for what, x := range map[string][2]float64{
			"largest return": {q, want}, "mbie-eb": {m.Planner.(*modelbased.Greedy).Q[0], want}, "optimistic-model": {o.Planner.(*modelbased.Greedy).Q[0], want},
			"r-max": {r.Planner.(*modelbased.Solver).Value[0][0], want}, "r-max, horizon": {f.Planner.(*modelbased.Solver).Value[5][0], want5},
		} {
			if math.Abs(x[0]-x[1]) > 1e-6 {
				t.Errorf("%s, continuing %v: %v, want %v", what, continuing, x[0], x[1])
			}
		}
	}
}

package modelagents

import (
	"math"
	"testing"

	"github.com/rlrun/rlrun/plugins/internal/agenttest"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// The values by hand: γ = 0, rewards in [0,10], one action tried 4 times for 1/2. The
// prior is one step for 0, so that the mean is 2/5; the bonus is 10·0.3/(1 + 1 + n).
func TestBEBByHand(t *testing.T) {
	x := newAgent(t, "beb", `{"gamma":0,"beta":0.3,"alpha":1,"reward_low":0,"reward_high":10}`, agenttest.Finite)
	x.Begin(0)
	x.Action = 0
	for range 4 {
		x.Learn(0.5, 0)
	}
	q := x.Planner.(*modelbased.Greedy).Q
	if want := 2./5 + 3./6; math.Abs(q[0]-want) > 1e-12 || math.Abs(q[1]-3./2) > 1e-12 {
		t.Errorf("values %v, want %v and 1.5", q[:2], want)
	}
}

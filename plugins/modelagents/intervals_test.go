package modelagents

import (
	"math"
	"testing"

	"github.com/rlrun/rlrun/plugins/internal/agenttest"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// The values by hand: rewards in [0,10], three states, one action of state 0 tried 4 times
// for 1/2 and back to 0. All weight that may move goes to the best state, whose value is the
// largest return: its actions were never tried.
func TestMBIEByHand(t *testing.T) {
	x := newAgent(t, "mbie", `{"gamma":0.5,"delta":0.1,"scaling":0.2,"reward_low":0,"reward_high":10}`, agenttest.Finite)
	x.Begin(0)
	x.Action = 0
	for range 4 {
		x.Learn(0.5, 0)
	}
	p := x.Planner.(*modelbased.Greedy)
	p.Plan(0)
	reward := 0.5 + 0.2*10*math.Sqrt(math.Log(2/0.1)/8)
	move := 0.2 * math.Sqrt(2*math.Log((8-2)/0.1)/4) / 2
	const top = 20. // 10/(1-γ); the other action of state 0 is worth that, too
	if want := reward + 0.5*top; math.Abs(p.Q[0]-want) > 1e-9 || p.Q[1] != top {
		t.Errorf("values %v, want %v and %v", p.Q[:2], want, top)
	}
	x.Action = 1
	for range 4 {
		x.Learn(0.5, 0)
	}
	for range 20 { // to the fixed point
		p.Refresh()
		p.Plan(0)
	}
	// Q = reward + γ((1-move) Q + move top)
	if want := (reward + 0.5*move*top) / (1 - 0.5*(1-move)); math.Abs(p.Q[0]-want) > 0.02 || math.Abs(p.Q[1]-want) > 0.02 {
		t.Errorf("values %v, want %v", p.Q[:2], want)
	}
}

package modelagents

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/rlrun/rlrun/plugins/internal/agenttest"
	"github.com/rlrun/rlrun/plugins/internal/argmax"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// After every action the values solve the equation of MBIE-EB for what was seen so far,
// to twice the residual. That is 1e-3 of the range of rewards, which is 2. Terminal
// states are worth nothing, and nothing is worth more than the largest return.
func TestMBIESolvesItsEquation(t *testing.T) {
	const gamma, beta = 0.9, 0.3
	x := newAgent(t, "mbie-eb", `{"gamma":0.9,"beta":0.3}`, agenttest.Finite)
	p := x.Planner.(*modelbased.Greedy)
	rng := rand.New(rand.NewPCG(1, 1))
	s, a := 0, 0
	x.Begin(s)
	check := func(step int) {
		for s := range 3 {
			for b := range 2 {
				want := 1 / (1 - gamma)
				if n := x.Counts.N(s, b); n > 0 {
					v := 0.0
					next, count := x.Counts.Row(s, b)
					for k, u := range next {
						v += count[k] / n * p.Value[u]
					}
					want = min(want, x.Counts.Rewards(s, b).Mean+2*beta/math.Sqrt(n)+gamma*v)
				}
				if got := p.Q[2*s+b]; !x.Terminals.Is[s] && math.Abs(got-want) > 4e-3 {
					t.Fatalf("step %d, state %d, action %d: %v, want %v", step, s, b, got, want)
				}
			}
			want := argmax.Max(p.Q[2*s : 2*s+2])
			if x.Terminals.Is[s] {
				want = 0
			}
			if p.Value[s] != want {
				t.Fatalf("step %d, state %d: value %v, want %v", step, s, p.Value[s], want)
			}
		}
	}
	check(0)
	for k := range 3000 {
		r := rng.Float64()*2 - 1
		switch next := rng.IntN(3); {
		case next == 2 && k%50 == 0:
			x.End(r, next, true)
			if !x.Terminals.Is[next] {
				t.Fatal("the state in which the episode ended is not terminal")
			}
			a, s = x.Begin(0), 0
		default:
			a, s = x.Step(r, next), next
		}
		check(k + 1)
		if a != x.Action || s != x.State {
			t.Fatal("the lane is elsewhere")
		}
	}
	if p.Sweeps > 3000*20 {
		t.Errorf("%d sweeps in 3000 steps", p.Sweeps)
	}
}

// The bonus by hand: one state that leads to itself, tried 4 times for 1/2.
func TestMBIEBonus(t *testing.T) {
	x := newAgent(t, "mbie-eb", `{"gamma":0,"beta":0.1,"reward_low":0,"reward_high":10}`, agenttest.Finite)
	p := x.Planner.(*modelbased.Greedy)
	x.Begin(0)
	x.Action = 0
	for range 4 {
		x.Learn(0.5, 0)
	}
	if want := 0.5 + 10*0.1/2; math.Abs(p.Q[0]-want) > 1e-12 || p.Q[1] != 10 {
		t.Errorf("values %v, want %v and 10", p.Q[:2], want)
	}
}

// Where nothing changes any more, nothing is swept.
func TestMBIESkipsSweeps(t *testing.T) {
	x := newAgent(t, "mbie-eb", `{"gamma":0.5,"beta":0}`, agenttest.Finite)
	p := x.Planner.(*modelbased.Greedy)
	s := 0
	x.Begin(s)
	for range 100 {
		s = (s + x.Action + 1) % 3
		x.Step(0.5, s)
	}
	before := p.Sweeps
	for range 100 {
		s = (s + x.Action + 1) % 3
		x.Step(0.5, s)
	}
	if before == 0 || p.Sweeps != before {
		t.Errorf("%d sweeps in 100 steps, %d in 200", before, p.Sweeps)
	}
}

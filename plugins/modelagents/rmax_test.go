package modelagents

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/plugins/internal/agenttest"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// A pair is known from its m-th visit on, and stays known as it was then, unless it is to
// be refined. Plans are made when something becomes known.
func TestRMAXKnownSetGrows(t *testing.T) {
	for _, refine := range []bool{false, true} {
		x := newAgent(t, "r-max", fmt.Sprintf(`{"m":4,"gamma":0.9,"refine":%v}`, refine), continuing())
		rng := rand.New(rand.NewPCG(1, 1))
		visits := make([]int, 6)
		m := x.Construction.(*modelbased.Known)
		known := make([]bool, 6)
		x.Begin(0)
		for k := range 2000 {
			i, plans := x.State*2+x.Action, x.Plans
			visits[i]++
			x.Step(rng.Float64(), rng.IntN(3))
			became := false
			for j, was := range known {
				if m.Known(j/2, j%2) != (visits[j] >= 4) || was && !m.Known(j/2, j%2) {
					t.Fatalf("step %d: visits %v, known %v", k, visits, known)
				}
				became = became || m.Known(j/2, j%2) && !was
			}
			for j := range known {
				known[j] = m.Known(j/2, j%2)
			}
			if !refine && (x.Plans > plans) != became {
				t.Fatalf("step %d: a plan: %v, something became known: %v", k, x.Plans > plans, became)
			}
			want := visits[i]
			if !refine {
				want = min(want, 4)
			}
			if got := x.Counts.N(i/2, i%2); got != float64(want) {
				t.Fatalf("step %d: %v visits learned of %d", k, got, visits[i])
			}
		}
		if slices.Contains(known, false) {
			t.Errorf("after 2000 steps not all is known: %v", visits)
		}
		if most := 1 + 6; !refine && x.Plans != most {
			t.Errorf("%d plans, want %d", x.Plans, most)
		} else if refine && (x.Plans < 12 || x.Plans > 1+6+6*10) {
			t.Errorf("%d plans", x.Plans)
		}
	}
}

// The model by hand: pair (0,0) is known to pay 1/2 and to stay, (0,1) is not; state
// 2 is terminal. Rewards are up to 1, γ = 0.8, T = 4.
func TestRMAXByHand(t *testing.T) {
	for _, tt := range []struct {
		params    string
		stay, try float64
	}{
		{`{"m":2,"gamma":0.8}`, 0.5 + 0.8*5, 1 / 0.2},
		{`{"m":2,"horizon":4}`, 0.5 + 3, 4},
	} {
		x := newAgent(t, "r-max", tt.params, agenttest.Finite)
		p, q := x.Planner.(*modelbased.Solver), make([]float64, 2)
		x.Begin(1)
		x.End(1, 2, true)
		x.Begin(0)
		for range 2 {
			x.Action = 0
			x.Learn(0.5, 0)
		}
		if x.Begin(0) != 1 {
			t.Errorf("%s: what is known is preferred", tt.params)
		}
		if p.Horizon > 0 {
			p.Lookahead.Lookahead(q, 0, 1, p.Value[3])
		} else {
			p.Lookahead.Lookahead(q, 0, 0.8, p.Value[0])
		}
		if math.Abs(q[0]-tt.stay) > 1e-6 || math.Abs(q[1]-tt.try) > 1e-6 {
			t.Errorf("%s: values %v, want %v and %v", tt.params, q, tt.stay, tt.try)
		}
		if v := p.Value[len(p.Value)-1]; math.Abs(v[2]) > 1e-6 || math.Abs(v[1]-tt.try) > 1e-6 {
			t.Errorf("%s: values of states %v", tt.params, v)
		}
	}
}

// A state in which an episode ended is worth nothing from the next action on, even if
// nothing becomes known. When an action is taken in it, it has its former value again.
func TestRMAXPlansWhereEpisodesEnd(t *testing.T) {
	x := newAgent(t, "r-max", `{"m":100,"gamma":0.9}`, agenttest.Finite)
	p := x.Planner.(*modelbased.Solver)
	x.Begin(0)
	for range 3 {
		x.End(1, 2, true)
		x.Begin(0)
	}
	if x.Plans != 2 || math.Abs(p.Value[0][2]) > 1e-6 {
		t.Errorf("%d plans, terminal state worth %v", x.Plans, p.Value[0][2])
	}
	x.Begin(2)
	if x.Plans != 3 || math.Abs(p.Value[0][2]-10) > 1e-6 {
		t.Errorf("%d plans, state worth %v", x.Plans, p.Value[0][2])
	}
}

// A plan for T steps is followed for T steps.
func TestRMAXHorizon(t *testing.T) {
	x := newAgent(t, "r-max", `{"m":100,"horizon":3}`, continuing())
	x.Begin(0)
	for k := range 9 {
		if want := 2 - k%3; x.Left() != want {
			t.Fatalf("step %d: %d steps left, want %d", k, x.Left(), want)
		}
		x.Step(0, 0)
	}
	if x.Plans != 1 {
		t.Errorf("%d plans of what did not change", x.Plans)
	}
}

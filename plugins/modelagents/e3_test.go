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

// known returns which states are known.
func known(x *modelbased.Learner) []bool { return x.Trigger.Known }

// Wandering is balanced: in unknown states no action is taken twice more often than
// another. A state is known from the mth time of its last action on, for good.
func TestE3WandersInBalance(t *testing.T) {
	x := newAgent(t, "e3", `{"m":5}`, continuing())
	rng := rand.New(rand.NewPCG(1, 1))
	x.Begin(0)
	for k := range 1000 {
		before := slices.Clone(known(x))
		x.Step(0, rng.IntN(3))
		for s := range 3 {
			n0, n1 := x.Counts.N(s, 0), x.Counts.N(s, 1)
			if !known(x)[s] && math.Abs(n0-n1) > 1 {
				t.Fatalf("step %d, state %d: actions were taken %v and %v times", k, s, n0, n1)
			}
			if want := min(n0, n1) >= 5; known(x)[s] != want || before[s] && !known(x)[s] {
				t.Fatalf("step %d, state %d: known: %v, want %v", k, s, known(x)[s], want)
			}
		}
	}
	if slices.Contains(known(x), false) {
		t.Error("not all is known")
	}
}

// Of a known state 0, action 0 stays; action 1 leads to unknown state 1 with
// probability p and else stays. The chance to escape in T steps is 1 − (1−p)^T, and
// it explores if that is at least escape; else it takes what pays.
func TestE3Escapes(t *testing.T) {
	const chance = 1 - 0.9*0.9*0.9*0.9 // p = 1/10, T = 4
	for _, gamma := range []float64{1, 0.9} {
		for _, explores := range []bool{true, false} {
			threshold := chance + 1e-9
			if explores {
				threshold = chance - 1e-9
			}
			x := newAgent(t, "e3", fmt.Sprintf(`{"m":10,"horizon":4,"gamma":%v,"escape":%.12f}`, gamma, threshold), continuing())
			p := x.Planner.(*e3Planner)
			x.Begin(0)
			for k := range 20 {
				r, next := 0.5, 0
				if x.Action = k % 2; x.Action == 1 {
					if r = 0; k == 1 {
						next = 1
					}
				}
				x.State = 0
				x.Learn(r, next)
			}
			x.State, x.Action = 1, 0
			x.Act(1) // an unknown state ends what it holds
			a := x.Act(0)
			if got := p.escape.Value[4][0]; math.Abs(got-chance) > 1e-12 {
				t.Errorf("chance to escape %v, want %v", got, chance)
			}
			want := 0
			if explores {
				want = 1
			}
			if p.exploring != explores || a != want {
				t.Errorf("gamma %v, escape %v: action %d, exploring %v", gamma, threshold, a, p.exploring)
			}
			// It holds what it decided for T steps, and wanders where it gets out.
			for left := 2; left >= 0; left-- {
				x.Step(0, 0)
				if p.exploring != explores || x.Left() != left {
					t.Errorf("exploring %v, %d steps left, want %v, %d", p.exploring, x.Left(), explores, left)
				}
			}
			x.Act(0)
			if x.Step(0, 1); x.Left() != 0 {
				t.Error("an option goes on outside of the known states")
			}
		}
	}
}

// In known states it plans anew when the visits to a pair have doubled, at the next
// decision.
func TestE3PlansWhenVisitsDouble(t *testing.T) {
	x := newAgent(t, "e3", `{"m":4,"horizon":1}`, continuing())
	x.Begin(0)
	for range 8 {
		x.Step(0, 0)
	}
	var planned []float64
	for range 1000 {
		before := x.Plans
		if x.Step(1, 0); x.Plans > before {
			planned = append(planned, max(x.Counts.N(0, 0), x.Counts.N(0, 1)))
		}
	}
	if want := []float64{8, 16, 32, 64, 128, 256, 512}; !slices.Equal(planned, want) {
		t.Errorf("plans at %v visits, want %v", planned, want)
	}
}

// The end of an episode is nothing to escape to.
func TestE3TerminalStatesAreNoEscape(t *testing.T) {
	x := newAgent(t, "e3", `{"m":1,"horizon":4}`, agenttest.Finite)
	p := x.Planner.(*e3Planner)
	for a := range 2 {
		x.Begin(0)
		x.State, x.Action = 0, a
		x.End(1, 2, true)
	}
	x.Begin(0)
	if v := p.escape.Value[4]; p.exploring || v[0] != 0 {
		t.Errorf("exploring %v, chance to escape %v", p.exploring, v[0])
	}
}

// Once all is known E³ exploits for ever.
func TestE3Exploits(t *testing.T) {
	l, _ := plugins.Trained(t, "riverswim", `{"limit":0}`, "e3", `{"m":15}`, 10_000)
	x := l.(*modelbased.Learner)
	p := x.Planner.(*e3Planner)
	if slices.Contains(known(x), false) || p.exploring {
		t.Errorf("known states %v, exploring %v", known(x), p.exploring)
	}
	if x.Plans > 6+12*15 {
		t.Errorf("%d plans", x.Plans)
	}
}

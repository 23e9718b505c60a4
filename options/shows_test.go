package options

import (
	"math"
	"testing"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// With one state an option shows what it promises at once; on a way of d steps to a reward,
// when it arrives; without a lead there is nothing to show.
func TestShows(t *testing.T) {
	one := must.Get(mdp.Generate(mdp.Definition{States: 1, Actions: 2}, func(_, a int, row *mdp.Row) {
		row.Add(0, 1)
		row.Reward(float64(a))
	}))(t)
	if got := Shows(one, mdp.Deterministic{1}, 0, 0, 1, 100); got != 1 {
		t.Errorf("one state: %d", got)
	}
	const n = 7 // a ring: the reward 1 when the way round is done
	ring := must.Get(mdp.Generate(mdp.Definition{States: n, Actions: 2}, func(s, a int, row *mdp.Row) {
		if a == 0 {
			row.Add(s, 1)
			return
		}
		row.Add((s+1)%n, 1)
		if s == n-1 {
			row.Reward(1)
		}
	}))(t)
	for s := range n {
		x := must.Get(mdp.Induce(ring, mdp.Constant(n, 1)))(t)
		v := must.Get(x.EvaluateDiscounted(0.99))(t)
		if got := Shows(ring, mdp.Constant(n, 1), s, 0, 0.01*v[s], 100); got != n-s {
			t.Errorf("from %d: %d steps, want %d", s, got, n-s)
		}
		if got := Shows(ring, mdp.Constant(n, 1), s, 1, 0.01*v[s], 100); got != 1 {
			t.Errorf("without a lead: %d", got)
		}
		if got := Shows(ring, mdp.Constant(n, 1), s, 0, 5, 3); got != 3 {
			t.Errorf("at most 3: %d", got)
		}
	}
}

// An option is held for as long as it asks for, within the limit, and charged for that. The
// greedy option is held for as long as the other would have been.
func TestOptionsOwnSteps(t *testing.T) {
	p := Problem{Arms: []Arm{{Name: "y"}, {Name: "x", Steps: 20}}, Values: []float64{0.5, 0.5, 0, 0.9}, Hold: 3}
	for _, tt := range []struct {
		rewards, most, hold int
		explore             bool
	}{
		{1000, 0, 20, true}, // E D⁺ = 0.2 against ρ·0.25, with ρ = 20/1000
		{1000, 10, 10, true},
		{24, 0, 20, false}, // ρ = 20/24
		{24, 10, 10, true},
	} {
		p.Most = tt.most
		for _, r := range []*Rule{RuleCommonModel, RuleIndex} {
			c := DeciderConfig{Rule: r, Bound: bandit.V, Horizon: bandit.Finite(tt.rewards - 1)}
			d := must.Get(Decide(c, &p, nil))(t)
			if share := float64(tt.hold) / float64(tt.rewards); d.Hold != tt.hold || math.Abs(d.Share-share) > 1e-12 || r == RuleCommonModel && d.Explore != tt.explore {
				t.Errorf("%s, %+v: %+v", r, tt, d)
			}
		}
	}
	p.Arms[1].Steps, p.Least = 1, 2 // not T, which is of the greedy policy
	if d := must.Get(Decide(DeciderConfig{Bound: bandit.V, Horizon: bandit.Finite(999)}, &p, nil))(t); d.Hold != 2 {
		t.Errorf("at least 2 steps: %+v", d)
	}
	p.Arms[1].Steps = 20
	p.ExplorationCost = 5 // the return takes two steps
	if d := must.Get(Decide(DeciderConfig{Bound: bandit.V, Horizon: bandit.Finite(99)}, &p, nil))(t); d.Hold != 10 || d.Share != 0.12 {
		t.Errorf("with the return: %+v", d)
	}
	p.Arms[1].Steps = -1
	if _, err := Decide(DeciderConfig{}, &p, nil); err == nil {
		t.Error("−1 steps")
	}
}

// By V an option is followed if (1−ρ)ζ E D⁺ > ρ(v̄(y)−v̄(x)): here 0.2(1−ρ)ζ > 0.05ρ, and of the
// value of perfect information, min(E D⁺, E D⁻), it is worth that at most.
func TestDoubt(t *testing.T) {
	p := Problem{Arms: []Arm{{Name: "y"}, {Name: "x"}}, Values: []float64{0.5, 0.5, 0, 0.9}, Hold: 10}
	if got := p.PerfectInformation(1); math.Abs(got-0.2) > 1e-12 {
		t.Errorf("perfect information is worth %v, want 0.2", got)
	}
	c := DeciderConfig{Rule: RuleCommonModel, Bound: bandit.V, Horizon: bandit.Finite(99)} // ρ = 0.1
	for _, tt := range []struct {
		doubt   float64
		explore bool
	}{{0, true}, {0.97, true}, {0.973, false}, {1, false}} {
		p.Doubt = tt.doubt
		if d := must.Get(Decide(c, &p, nil))(t); d.Explore != tt.explore || math.Abs(d.Advantage-(0.9*(1-tt.doubt)*0.2-0.1*0.05)) > 1e-12 {
			t.Errorf("doubt %v: %+v", tt.doubt, d)
		}
	}
	p.Doubt = 1.5
	if _, err := Decide(c, &p, nil); err == nil {
		t.Error("doubt 1.5")
	}
}

// A drawn member is offered alone: with its own values if they are evaluated, else with the
// loss of its first action at every step for the members that would begin otherwise.
func TestDrawnMember(t *testing.T) {
	q := []float64{3, 4, 9, 5, 0, 2} // member 0 and the mean of 5.33 against 2.33: action 0; member 0 prefers 1
	e := []float64{1, 2, 6, 4, 0, 1}
	agent := fixedAgent{}
	for _, planned := range []bool{false, true} {
		tables := must.Get(NewTables(2, 3, 0.9, TableConfig{Kinds: []Kind{DrawnMember}, Policies: true, Planned: planned}))(t)
		for tables.Draw(); tables.drawn != 0; {
			tables.Draw()
		}
		values := e
		if planned { // the policies are the greedy one and the drawn member's
			values = []float64{1, 2, 6, 0, 0, 0, 0, 0, 0, 5, 1, 3}
			if o := tables.EvaluatedPolicies()[1]; o != (TableOption{DrawnMember, 0}) {
				t.Errorf("evaluates %v", o)
			}
		}
		var p Problem
		must.Do(t, tables.At(&p, q, values, agent))
		want := []float64{0.1, 0.2, 0.6, 0.5, 0.2 - 2, 0.6 - 5}
		if planned {
			want = []float64{0.1, 0.2, 0.6, 0.5, 0.1, 0.3}
		}
		if len(p.Arms) != 2 || p.Arms[1].Name != "member 0" {
			t.Fatalf("arms %v", p.Arms)
		}
		for i, v := range want {
			if math.Abs(p.Values[i]-v) > 1e-12 {
				t.Errorf("planned %t: values %v, want %v", planned, p.Values, want)
				break
			}
		}
	}
}

type fixedAgent struct{}

func (fixedAgent) Greedy() int            { return 0 }
func (fixedAgent) Prefers(int) int        { return 1 }
func (fixedAgent) Means() []float64       { return nil }
func (fixedAgent) Visits() (*Visits, int) { return nil, 0 }

package options

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/mdp"
)

// With one state there is nothing to know of it: the exact advantage is that of the
// paired V.
func TestLookaheadOfOneState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 8).Draw(t, "models")
		values := [][]float64{}
		for range 3 {
			values = append(values, rapid.SliceOfN(rapid.Float64Range(0, 1), k, k).Draw(t, "values"))
		}
		members := make([]*mdp.Tabular, k)
		for i := range members {
			var err error
			members[i], err = mdp.Generate(mdp.Definition{States: 1, Actions: 3}, func(_, a int, row *mdp.Row) {
				row.Add(0, 1)
				row.Reward(values[a][i])
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		red, err := Reduce(members, ReduceConfig{Kinds: []Kind{Constants, Uniform}})
		if err != nil {
			t.Fatal(err)
		}
		gamma := rapid.Float64Range(0, 0.99).Draw(t, "γ")
		var p Problem
		red.At(&p, 0, 0)
		p.Hold = rapid.IntRange(1, 20).Draw(t, "T")
		for x := 1; x < len(p.Arms); x++ {
			c := red.Candidates[x]
			got, err := Lookahead(members, c.Policy, red.Candidates[0].Policy, c.Class, 0, p.Hold, gamma)
			if err != nil {
				t.Fatal(err)
			}
			want := decide(t, DeciderConfig{Rule: RuleCommonModel, Bound: bandit.V}, gamma, p.two(x)).Advantage
			if math.Abs(got-want) > 1e-9 {
				t.Fatalf("%s has the advantage %v, want %v", c.Name, got, want)
			}
		}
	})
}

// The reduction forgets the state: what it loses vanishes as the horizon grows.
func TestLookaheadAgreesAtLongHorizons(t *testing.T) {
	members := posterior(t, 4, 2, 5, 60, 5)
	red, err := Reduce(members, ReduceConfig{Kinds: []Kind{Members, Uniform}})
	if err != nil {
		t.Fatal(err)
	}
	var p Problem
	red.At(&p, 0, 0)
	last := math.Inf(1)
	for _, gamma := range []float64{0.9, 0.99, 0.999, 0.9999} {
		worst := 0.0
		for x := 1; x < len(p.Arms); x++ {
			c := red.Candidates[x]
			for s := range 4 {
				got, err := Lookahead(members, c.Policy, red.Candidates[0].Policy, c.Class, s, p.Hold, gamma)
				if err != nil {
					t.Fatal(err)
				}
				worst = max(worst, math.Abs(got-decide(t, DeciderConfig{Rule: RuleCommonModel, Bound: bandit.V}, gamma, p.two(x)).Advantage))
			}
		}
		if worst > last/5 {
			t.Errorf("at γ = %v the reduction is off by %v, by %v at the horizon before", gamma, worst, last)
		}
		last = worst
	}
	if last > 0.01 {
		t.Errorf("the reduction is off by %v at the longest horizon", last)
	}
}

func TestLookaheadRefuses(t *testing.T) {
	m := []*mdp.Tabular{twoStates(t)}
	if _, err := Lookahead(m, mdp.Uniform{}, mdp.Uniform{}, Directed, 2, 1, 0.9); err == nil {
		t.Error("there is no state 2")
	}
	if _, err := Lookahead(m, mdp.Uniform{}, mdp.Uniform{}, Directed, 0, 0, 0.9); err == nil {
		t.Error("an option was held for no step")
	}
	if _, err := Lookahead(nil, mdp.Uniform{}, mdp.Uniform{}, Directed, 0, 1, 0.9); err == nil {
		t.Error("a belief without models was taken")
	}
	if _, err := Lookahead(m, mdp.Constant(1, 0), mdp.Uniform{}, Directed, 0, 1, 0.9); err == nil {
		t.Error("a policy of another size was taken")
	}
}

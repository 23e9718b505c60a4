package options

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/internal/must"
)

// policyValues are E_pk(s,a) at (a*P+p)*K+k, made up so that each is told by its
// digits: a.kp0.
func policyValues(actions, members, policies int) []float64 {
	var e []float64
	for a := range actions {
		for p := range policies {
			for k := range members {
				e = append(e, float64(a)+0.1*float64(k)+0.01*float64(p))
			}
		}
	}
	return e
}

// listed lists options of tables.
func listed(options []TableOption) string {
	var words []string
	for _, o := range options {
		words = append(words, fmt.Sprint(o.Kind.String(), " ", o.Of))
	}
	return fmt.Sprint(words)
}

// Three members of three actions, γ = 1/2, by hand. Action 1 has the largest mean;
// member 0 would begin with 0, 1 and 2 with 2.
func TestTablesOfPolicies(t *testing.T) {
	q := []float64{8, 0, 0, 6, 4, 6, 0, 5, 10}
	agent := newVisitor(t, []int{1, 2, 3}, []int{3, 1, 6})
	for _, tt := range []struct {
		kinds     []Kind
		evaluated int
		policies  string
		want      string
	}{
		// Twice the values of options are: greedy 1.k0; a represented member its own
		// best where it agrees, a deviation a.k0 where not; a constant a.kp.
		{[]Kind{Members}, 0, "[greedy 0]", "greedy 1 [1 1.1 1.2]; member 0 0 [8 0.1 0.2]; member 2 2 [2 5 10]; "},
		{nil, 0, "[greedy 0 constants 0 constants 1 constants 2]",
			"greedy 1 [1 1.1 1.2]; member 0 0 [8 0.1 0.2]; member 2 2 [2 5 10]; action 0 0 [0.01 0.11 0.21]; action 1 1 [1.02 1.12 1.22]; action 2 2 [2.03 2.13 2.23]; "},
		{[]Kind{Members}, 2, "[greedy 0 members 0 members 1]", "greedy 1 [1 1.1 1.2]; member 0 0 [0.01 0.11 0.21]; member 1 1 [2.02 2.12 2.22]; member 2 2 [2 5 10]; "},
		{[]Kind{Deviations, RecencyBonus, CountBonus}, 0, "[greedy 0]", "greedy 1 [1 1.1 1.2]; deviation 0 0 [0 0.1 0.2]; deviation 2 2 [2 2.1 2.2]; recency-bonus 0 [2 2.1 2.2]; count-bonus 0 [0 0.1 0.2]; "},
		{[]Kind{Uniform, Repeats}, 0, "[greedy 0 uniform 0]", "greedy 1 [1 1.1 1.2]; uniform 0 [1.01 1.11 1.21]; repeats 0 [1.01 1.11 1.21]; "},
	} {
		tables := must.Get(NewTables(3, 3, 0.5, TableConfig{Policies: true, Kinds: tt.kinds, Evaluated: tt.evaluated, Kappa: 1}))(t)
		if got := listed(tables.EvaluatedPolicies()); got != tt.policies {
			t.Errorf("policies %s, want %s", got, tt.policies)
		}
		e := policyValues(3, 3, len(tables.EvaluatedPolicies()))
		p := Problem{Hold: 4, Step: 9}
		for range 2 { // its memory is used again
			must.Do(t, tables.At(&p, q, e, agent))
			got := ""
			for x, a := range p.Arms {
				row := ""
				for k, v := range p.row(x) {
					if k > 0 {
						row += " "
					}
					row += fmt.Sprintf("%.4g", 2*v)
				}
				got += fmt.Sprintf("%s %v [%s]; ", a.Name, tables.Option(x).Of, row)
			}
			if got != tt.want {
				t.Errorf("%v:\n got %s\nwant %s", tt.kinds, got, tt.want)
			}
		}
		if !slices.Equal(p.Optimal, []float64{4, 2.5, 5}) || p.Hold != 4 || p.Step != 9 {
			t.Errorf("%+v", p)
		}
		if err := p.Check(); err != nil {
			t.Error(err)
		}
		if n := testing.AllocsPerRun(20, func() { _ = tables.At(&p, q, e, agent) }); n > 0 {
			t.Errorf("%v: %v allocations", tt.kinds, n)
		}
	}
}

// The option of a member that is not evaluated has, for each member, the value of its
// best if the two agree on the first action. The representative of an action begins with
// it, and no option that begins with it gains more.
func TestRepresentatives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		actions, members := rapid.IntRange(1, 4).Draw(t, "actions"), rapid.IntRange(1, 6).Draw(t, "members")
		evaluated := rapid.IntRange(0, members).Draw(t, "evaluated")
		tables := must.Get(NewTables(actions, members, 0, TableConfig{Policies: true, Kinds: []Kind{Members}, Evaluated: evaluated}))(t)
		n := len(tables.EvaluatedPolicies())
		q := rapid.SliceOfN(rapid.Float64Range(-10, 10), actions*members, actions*members).Draw(t, "q")
		e := rapid.SliceOfN(rapid.Float64Range(-10, 10), len(q)*n, len(q)*n).Draw(t, "e")
		var p Problem
		must.Do(t, tables.At(&p, q, e, nil))
		best := func(l int) int {
			a := 0
			for b := range actions {
				if q[b*members+l] > q[a*members+l] {
					a = b
				}
			}
			return a
		}
		at := func(a, k, p int) float64 { return e[(a*n+p)*members+k] }
		j := tables.Option(0).Of
		gain := func(l int) float64 { return q[best(l)*members+l] - at(j, l, 0) }
		offered := map[int]bool{}
		for x := 1; x < len(p.Arms); x++ {
			l := tables.Option(x).Of
			a := best(l)
			for k, got := range p.row(x) {
				want := at(a, k, 0)
				switch {
				case l < evaluated:
					want = at(a, k, 1+l)
				case best(k) == a:
					want = q[a*members+k]
				}
				if got != want {
					t.Fatalf("member %d is worth %v to member %d, want %v", l, got, k, want)
				}
			}
			if l < evaluated {
				continue
			}
			if offered[a] {
				t.Fatalf("two members represent action %d", a)
			}
			offered[a] = true
			for o := evaluated; o < members; o++ {
				if best(o) == a && gain(o) > gain(l) {
					t.Fatalf("member %d represents %d, which has more to gain", l, o)
				}
			}
		}
		for l := evaluated; l < members; l++ {
			if !offered[best(l)] {
				t.Fatalf("nobody represents member %d", l)
			}
		}
	})
}

func TestTablesOfPoliciesRefuse(t *testing.T) {
	for _, o := range []TableConfig{{Evaluated: 3}, {Evaluated: -1}, {RevealProbability: -1}} {
		if _, err := NewTables(2, 2, 0.5, o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
	tables := must.Get(NewTables(2, 1, 0.5, TableConfig{Policies: true, Kinds: []Kind{Members}}))(t)
	for _, bad := range [][2][]float64{{nil, nil}, {{1, 2}, {1}}, {{1}, {1, 2}}} {
		if err := tables.At(&Problem{Hold: 1}, bad[0], bad[1], nil); err == nil {
			t.Errorf("values %v were taken", bad)
		}
	}
}

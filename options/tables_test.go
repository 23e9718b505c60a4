package options

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/internal/must"
)

// visitor is an agent in state 0 whose actions were taken a number of times, and last
// some steps ago. All have the mean value 0.
type visitor struct {
	visits *Visits
	means  []float64
}

func newVisitor(t testing.TB, count, age []int) *visitor {
	v := must.Get(NewVisits(1, len(count)))(t)
	v.now = 100
	for a := range count {
		v.count[a], v.last[a] = count[a], v.now-age[a]
	}
	return &visitor{v, make([]float64, len(count))}
}

func (*visitor) Greedy() int              { return 1 }
func (*visitor) Prefers(member int) int   { return member }
func (v *visitor) Means() []float64       { return v.means }
func (v *visitor) Visits() (*Visits, int) { return v.visits, 0 }

// describe lists the options of a problem with their values.
func describe(t *Tables, p *Problem) string {
	text := ""
	for x, a := range p.Arms {
		text += fmt.Sprintf("%s %v %v; ", a.Name, t.Option(x).Of, p.row(x))
	}
	return text
}

// Three members of three actions, γ = 1/2, by hand. Action 1 has the largest
// mean. Member 0 would take action 0, member 1 action 2, and member 2 as well, with
// more to gain.
func TestTablesOfActions(t *testing.T) {
	q := []float64{8, 0, 0, 6, 4, 6, 0, 5, 10}
	agent := newVisitor(t, []int{2, 1, 3}, []int{3, 1, 6})
	for _, tt := range []struct {
		kinds []Kind
		want  string
	}{
		{nil, "greedy 1 [3 2 3]; member 0 0 [4 0 0]; member 2 2 [0 2.5 5]; "},
		{[]Kind{Constants, Members}, "greedy 1 [3 2 3]; action 0 0 [4 0 0]; action 2 2 [0 2.5 5]; "},
		{[]Kind{Greedy, Deviations}, "greedy 1 [3 2 3]; deviation 0 0 [4 0 0]; deviation 2 2 [0 2.5 5]; "},
		{[]Kind{RecencyBonus, CountBonus, Members}, "greedy 1 [3 2 3]; recency-bonus 0 [0 2.5 5]; count-bonus 0 [3 2 3]; member 0 0 [4 0 0]; "},
		{[]Kind{Uniform, Repeats}, "greedy 1 [3 2 3]; uniform 0 [2.3333333333333335 1.5 2.6666666666666665]; repeats 0 [2.3333333333333335 1.5 2.6666666666666665]; "},
	} {
		tables := must.Get(NewTables(3, 3, 0.5, TableConfig{Kinds: tt.kinds, RevealProbability: 0.25, Kappa: 1}))(t)
		p := Problem{Hold: 4, Step: 9}
		for range 2 { // its memory is used again
			must.Do(t, tables.At(&p, q, nil, agent))
			if got := describe(tables, &p); got != tt.want {
				t.Errorf("%v:\n got %s\nwant %s", tt.kinds, got, tt.want)
			}
		}
		if !slices.Equal(p.Optimal, []float64{4, 2.5, 5}) || p.Hold != 4 || p.Step != 9 || p.Greedy != 0 {
			t.Errorf("%+v", p)
		}
		for x, a := range p.Arms {
			uninformed := slices.Contains([]Kind{Uniform, Repeats, CountBonus}, tables.Option(x).Kind)
			if uninformed != (a.Class == Uninformed) || uninformed && a.RevealProbability != 0.25 {
				t.Errorf("option %+v", a)
			}
		}
		if err := p.Check(); err != nil {
			t.Error(err)
		}
	}
}

// The options offered stand for all. If all members and all actions are options of their
// own, except those that begin like the greedy one, then no rule finds more. A member
// that is followed is the one of its action that has most to gain.
func TestTablesOfActionsOfferAllThatCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		actions, members := rapid.IntRange(1, 4).Draw(t, "actions"), rapid.IntRange(1, 6).Draw(t, "members")
		q := rapid.SliceOfN(rapid.Float64Range(-10, 10), actions*members, actions*members).Draw(t, "q")
		gamma := rapid.Float64Range(0, 0.99).Draw(t, "gamma")
		tables := must.Get(NewTables(actions, members, gamma, TableConfig{}))(t)
		p := Problem{Hold: 1}
		must.Do(t, tables.At(&p, q, nil, nil))
		best := func(l int) int { // member l's action
			a := 0
			for b := range actions {
				if q[b*members+l] > q[a*members+l] {
					a = b
				}
			}
			return a
		}
		j := tables.Option(0).Of
		full := Problem{Hold: 1}
		add := func(name string, a int) {
			if a == j && name != "greedy" {
				return
			}
			full.Arms = append(full.Arms, Arm{Name: name})
			for k := range members {
				full.Values = append(full.Values, (1-gamma)*q[a*members+k])
			}
		}
		add("greedy", j)
		for l := range members {
			add(fmt.Sprint("member ", l), best(l))
		}
		for a := range actions {
			add(fmt.Sprint("action ", a), a)
		}
		for _, rule := range benchRules {
			if rule.Rule == RuleOptimisticStochastic {
				continue // draws for each option
			}
			rule.Horizon = bandit.Discounted(0.9)
			got := must.Get(Decide(rule, &p, nil))(t)
			want := must.Get(Decide(rule, &full, nil))(t)
			if got.Explore != want.Explore || got.Explore && got.Advantage != want.Advantage {
				t.Fatalf("%+v: %+v, of all options %+v", rule, got, want)
			}
			if !got.Explore {
				continue
			}
			// A member that is followed begins with its own action, and of those that
			// begin so none leads by more.
			o := tables.Option(got.Choice)
			if o.Kind != Members {
				continue
			}
			a := best(o.Of)
			for l := range members {
				lead := func(l int) float64 { return (1-gamma)*q[a*members+l] - (1-gamma)*q[j*members+l] }
				if best(l) == a && lead(l) > lead(o.Of) {
					t.Fatalf("member %d is followed, but %d has more to gain", o.Of, l)
				}
			}
		}
	})
}

func TestTablesOfActionsRefuse(t *testing.T) {
	for _, tt := range []struct {
		actions, members int
		gamma            float64
		o                TableConfig
	}{
		{0, 1, 0.5, TableConfig{}},
		{1, 0, 0.5, TableConfig{}},
		{2, 2, 1, TableConfig{}},
		{2, 2, math.NaN(), TableConfig{}},
		{2, 2, 0.5, TableConfig{RevealProbability: 2}},
		{2, 2, 0.5, TableConfig{Kinds: []Kind{nil}}},
		{2, 2, 0.5, TableConfig{Kinds: []Kind{Members, Members}}},
	} {
		if _, err := NewTables(tt.actions, tt.members, tt.gamma, tt.o); err == nil {
			t.Errorf("%+v was taken", tt)
		}
	}
	tables := must.Get(NewTables(2, 1, 0.5, TableConfig{}))(t)
	p := Problem{Hold: 1}
	for _, bad := range [][]float64{nil, {1}, {1, 2, 3}} {
		if err := tables.At(&p, bad, nil, nil); err == nil {
			t.Errorf("values %v were taken", bad)
		}
	}
	if err := tables.At(&p, []float64{math.NaN(), 1}, nil, nil); err != nil || p.Check() == nil {
		t.Errorf("NaN passes, %v", err)
	}
}

package options

import (
	"slices"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// There are two states, and action 1 leads from each to the other. All but action 0 of
// state 1 have been tried: the way there is action 1, then action 0. With tables, state 1
// takes the action not tried, and state 0 the greedy one.
func TestUntried(t *testing.T) {
	m := must.Get(mdp.Generate(mdp.Definition{States: 2, Actions: 2}, func(s, a int, row *mdp.Row) {
		row.Add(s^a, 1)
		row.Reward(float64(a * s))
	}))(t)
	v := must.Get(NewVisits(2, 2))(t)
	v.Update(0, 0)
	v.Update(0, 1)
	v.Update(1, 1)
	red := must.Get(reduce([]*mdp.Tabular{m}, ReduceConfig{Kinds: []Kind{Untried}, Visits: v, Discount: 0.9}))(t)
	last := red.Candidates[len(red.Candidates)-1]
	if pi, ok := last.Policy.(mdp.Deterministic); !ok || last.Name != "untried" || last.Class != Uninformed || !slices.Equal(pi, []int{1, 0}) {
		t.Errorf("%+v, want the policy [1 0]", last)
	}
	if _, err := reduce([]*mdp.Tabular{m}, ReduceConfig{Kinds: []Kind{Untried}}); err == nil {
		t.Error("there is nothing to go by without visits")
	}
	tables := must.Get(NewTables(3, 3, 0.5, TableConfig{Kinds: []Kind{Untried}}))(t)
	tables.FollowOption(TableOption{Kind: Untried})
	for want, count := range map[int][]int{2: {1, 4, 0}, 1: {1, 4, 1}, 0: {0, 0, 0}} { // the visitor is greedy for 1
		if got := tables.Action(newVisitor(t, count, []int{1, 1, 1})); got != want {
			t.Errorf("after %v tries, action %d, want %d", count, got, want)
		}
	}
}

package result

import (
	"reflect"
	"testing"
)

func TestChoices(t *testing.T) {
	recs := []Record{okRecord("e", "a", 0, 1), okRecord("e", "a", 1, 1), okRecord("e", "b", 0, 1)}
	recs[0].Decisions = []Decision{
		{Option: "greedy", Hold: 4, Share: 0.1},
		{Option: "member 3", Explore: true, Hold: 2, Share: 0.5, Capped: true},
	}
	recs[1].Decisions = []Decision{
		{Option: "uniform", Explore: true, Hold: 1, Share: 0.2}, {Option: "member 14", Explore: true, Hold: 1, Share: 0.2},
	}
	s := mustAggregate(t, Meta{Grid: []int{1}, Environments: []string{"e"}, Agents: []string{"a", "b"}, Runs: 2, Metrics: []Metric{Reward}}, recs)
	want := []Choices{{"e", "a", 4, 3, 1, 2, 0.25, []Choice{{"member", 2}, {"uniform", 1}}}}
	if !reflect.DeepEqual(s.Choices, want) {
		t.Errorf("got %+v, want %+v", s.Choices, want)
	}
}

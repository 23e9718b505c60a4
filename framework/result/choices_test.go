package result

import (
	"math"
	"reflect"
	"testing"
)

func TestChoices(t *testing.T) {
	recs := []Record{okRecord("e", "a", 0, 1), okRecord("e", "a", 1, 1), okRecord("e", "b", 0, 1)}
	for i := range recs {
		recs[i].Steps = 10
	}
	recs[0].Decisions = []Decision{
		{Option: "greedy", Hold: 4, Share: 0.1, Compared: Compared{Gain: 9}},
		{Option: "member 3", Explore: true, Hold: 2, Share: 0.5, Capped: true, Step: 6, State: 2, Compared: Compared{Gain: 0.75, Cost: 0.25}},
	}
	recs[1].Decisions = []Decision{
		{Option: "uniform", Explore: true, Hold: 1, Share: 0.2, State: 2, Compared: Compared{Gain: 0.25, Cost: 0.5}}, {Option: "member 14", Explore: true, Hold: 1, Share: 0.2, State: -1, Step: 5, Compared: Compared{Gain: math.NaN()}},
	}
	s := mustAggregate(t, Meta{Grid: []int{10}, Environments: []string{"e"}, Agents: []string{"a", "b"}, Runs: 2, Metrics: []Metric{Reward}}, recs)
	want := []Choices{{Environment: "e", Agent: "a", Kept: 4, Explored: 3, Capped: 1, Hold: 2, Share: 0.25, Options: []Choice{{"member", 2}, {"uniform", 1}},
		Early: 1, Gain: (0.75 + 0.25) / 2, Cost: (0.25 + 0.5) / 2, Places: []Place{{2, 2, [Parts]int{1, 0, 0, 0, 0, 0, 1}}}}}
	if !reflect.DeepEqual(s.Choices, want) {
		t.Errorf("got %+v, want %+v", s.Choices, want)
	}
}

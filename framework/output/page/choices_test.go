package page

import (
	"reflect"
	"testing"

	"github.com/rlrun/rlrun/framework/output/outputtest"
	"github.com/rlrun/rlrun/framework/result"
)

// The page has the decisions of the host, by their shares.
func TestPageOfChoices(t *testing.T) {
	s := outputtest.Demo(t, []string{"a", "b"}, 100, 10, 3, false)
	env := s.Meta.Environments[1]
	places := []result.Place{{State: 4, Times: 120, Parts: [result.Parts]int{100, 20}}, {State: 0, Times: 3, Parts: [result.Parts]int{3}}}
	s.Choices = []result.Choices{
		{Environment: env, Agent: "a", Kept: 1200, Explored: 300, Capped: 6, Hold: 12.34, Share: 0.01234,
			Options: []result.Choice{{Option: "member", Times: 200}, {Option: "action", Times: 100}},
			Early:   150, Gain: 0.5, Cost: 0.25, Places: places},
		{Environment: env, Agent: "b", Kept: 10, Hold: 1, Share: 0.5},
	}
	got := embedded(t, render(t, s, Page{})).Choices
	want := []pageChoices{{1, 0, 1200, 0.25, 0.005, 12.34, 0.01234, "member 66.7 %, action 33.3 %", "4: 40 %, 0: 1 %", 0.5, 0.5, 0.25, places}, {1, 1, 10, 0, 0, 1, 0.5, "–", "–", 0, 0, 0, nil}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

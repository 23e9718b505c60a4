package report

import (
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/result"
)

// The page has a table of decisions where there are any.
func TestPageOfChoices(t *testing.T) {
	s := demo(t, []string{"a"}, 100, 10, 3, false)
	if file := page(t, s, Page{}); strings.Contains(file, "choices-title") {
		t.Error("a table of decisions without any")
	}
	s.Choices = []result.Choices{
		{Environment: "river", Agent: "a", Kept: 1200, Explored: 300, Capped: 6, Hold: 12.34, Share: 0.01234,
			Options: []result.Choice{{Option: "member", Times: 200}, {Option: "action", Times: 100}}},
		{Environment: "river", Agent: "b", Kept: 10, Hold: 1, Share: 0.5},
	}
	var rows []string
	for _, tr := range elements(t, page(t, s, Page{}))["tr"] {
		rows = append(rows, strings.Join(strings.Fields(textOf(tr)), " "))
	}
	all := strings.Join(rows, "\n")
	for _, want := range []string{"rivera1,20025.0 %member 66.7 %, action 33.3 %12.30.50.0123", "riverb100.0 %–1.00.0"} {
		if want = strings.Replace(want, "0.50.0123", "0.5 %0.0123", 1); !strings.Contains(all, want) {
			t.Errorf("no row %q in\n%s", want, all)
		}
	}
}

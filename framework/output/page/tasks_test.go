package page

import (
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/output/outputtest"
	"github.com/rlrun/rlrun/framework/result"
)

// The page has a table of the environments with known properties, and only then.
func TestPageOfKnownTasks(t *testing.T) {
	s := outputtest.Demo(t, []string{"a"}, 100, 10, 3, false)
	if file := render(t, s, Page{}); strings.Contains(file, "tasks-title") {
		t.Error("a table of environments of which nothing is known")
	}
	gain, diameter, longest, mean := 0.428622, 14.7223, 1234, 3.97655
	s.Meta.Tasks = map[string]result.Task{
		s.Meta.Environments[0]: {States: 6, Actions: 2, Gain: &gain, Diameter: &diameter, Structure: "ergodic",
			Mixing: &result.TaskMixing{Eta: 0.25, Epsilon: 0.5 / 6, Max: &longest, Mean: &mean}},
		s.Meta.Environments[1]: {States: 9, Actions: 2, Mixing: &result.TaskMixing{Eta: 0.25, Epsilon: 0.5 / 9}},
	}
	var rows []string
	for _, tr := range elements(t, render(t, s, Page{}))["tr"] {
		rows = append(rows, strings.Join(strings.Fields(textOf(tr)), " "))
	}
	all := strings.Join(rows, "\n")
	for _, want := range []string{
		s.Meta.Environments[0] + "620.428614.72ergodic0.250.083331,2343.977",
		s.Meta.Environments[1] + "92––0.250.05556∞–",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no row %q in\n%s", want, all)
		}
	}
}

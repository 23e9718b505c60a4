package plan

import "testing"

func TestClassesHaveTheirNames(t *testing.T) {
	for name, want := range map[string]string{
		"python -m rlrun._programs results/x/programs/My_Rule-0123456789abcdef.pickle": "My_Rule",
		"python3.12 -m rlrun._programs lab.rules:Outer.Often":                          "Outer.Often",
		"python -m mine lab:Often":                                                     "python -m mine lab:Often",
		"./often.py":                                                                   "./often.py",
		"optimistic":                                                                   "optimistic",
	} {
		if got := ClassOf(name); got != want {
			t.Errorf("ClassOf(%q) = %q, want %q", name, got, want)
		}
	}
	x := Exploration{Rule: "python -m rlrun._programs lab.rules:Often"}
	if got := x.Label(); got != "Often" {
		t.Errorf("Label() = %q", got)
	}
}

package plan

import (
	"encoding/json"
	"testing"
)

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
	for rule, want := range map[string]string{"python -m rlrun._programs lab.rules:Often": "Often", "rlrun-plugin-often": "often"} {
		x := Exploration{Rule: rule}
		if got := x.Label(); got != want || x.RulePlugin() == nil {
			t.Errorf("Label() of %s = %q", rule, got)
		}
	}
}

// Parameters are the same in any order, and none are the same as an empty mapping.
func TestSourcesThatAreThereTwice(t *testing.T) {
	kind := func(params string) OptionKind { return OptionKind{Name: "./a.py", Params: json.RawMessage(params)} }
	for _, x := range []struct {
		a, b OptionKind
		want bool
	}{
		{kind(`{"x":1,"y":2}`), kind(`{"y": 2, "x": 1.0}`), true},
		{kind(`{}`), OptionKind{Name: "./a.py"}, true},
		{kind(`{"x":1}`), kind(`{"x":2}`), false},
		{kind(`{"x":1}`), OptionKind{Name: "./a.py"}, false},
		{OptionKind{Name: "./b.py"}, OptionKind{Name: "./a.py"}, false},
	} {
		if got := x.a.same(x.b); got != x.want {
			t.Errorf("%v and %v: %v, want %v", x.a, x.b, got, x.want)
		}
	}
}

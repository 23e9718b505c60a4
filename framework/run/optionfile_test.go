package run

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/internal/must"
)

// A file of options says what it says: no missing value is 0, no fraction is dropped, and no
// second document is passed over. JSON has the same meaning as YAML.
func TestOptionFiles(t *testing.T) {
	spec := framework.Spec{ID: "a/task@1", Observation: space.Discrete{N: 3}, Action: space.Discrete{N: 2}}
	text := func(policy string) string {
		return "states: 3\nactions: 2\noptions:\n  - {name: a, policy: " + policy + "}\n"
	}
	inYAML := must.Get(parseOptions([]byte(text("{0: 1, 1: 1}, end: {1: 0.5}, initiation: [0]")), spec))(t)
	inJSON := must.Get(parseOptions([]byte(`{"states": 3, "actions": 2, "options": [{"name": "a", "policy": {"0": 1, "1": 1}, "end": {"1": 0.5}, "initiation": [0]}]}`), spec))(t)
	if !reflect.DeepEqual(inYAML, inJSON) {
		t.Errorf("%+v in YAML, %+v in JSON", inYAML, inJSON)
	}
	for policy, want := range map[string]string{
		"{0: , 1: 1}":               "line 4: a value is missing",
		"{0: [null, 1]}":            "line 4: a value is missing",
		"{0: 1}, end: {0: }":        "line 4: a value is missing",
		"{0: 7, 1: [0.5, 0.5]}":     "action 7 in state 0 is not in 0..1",
		"{0: 1.5}":                  "must be the number of an action",
		"{0: 0x1}":                  "must be the number of an action",
		"{0: true}":                 "must be the number of an action",
		"{0: 1, 0x0: 0}":            "0x0 is no whole number",
		"{0: 1, \"0\": 0}":          "already defined",
		"{0: 1}, initiation: [0.5]": "0.5 is no whole number",
		"{0: 1}, end: {0: .nan}, initiation: [0]": "NaN",
		"{0: [.nan, 1]}":                             "NaN",
		"{0: 1}}\n  - {name: \"a \"":                 "looks like it",
		"{0: 1}}\n  - {name: greedy, policy: {0: 1}": `option 1 has the name "greedy", which is the agent's own option: give it another`,
		"{0: 1}}\n---\n{states: 4":                   "line 5: a second document",
		"{0: 1}}\nstates: 3\n{name: a":               "line 6",
		"{0: 1}}\n...\n{name: a":                     "did not find expected",
		"{0: 1}, ends: {0: 1}":                       "line 4: unknown key ends; did you mean end?",
		"{0: 1}, zzzzzzz: {0: 1}":                    "line 4: unknown key zzzzzzz; the keys are name, policy, initiation, end",
		"[1, 1, 1]":                                  "line 4: must be a mapping, not a list",
		"{0: 1}, end: {0: x}":                        "line 4: must be a number, not x",
		"{0: 1}, initiation: all":                    "line 4: must be a list, not all",
	} {
		if got, err := parseOptions([]byte(text(policy)), spec); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "run.") || strings.Contains(err.Error(), "!!") {
			t.Errorf("%s: %+v, %v; want %q", policy, got, err, want)
		}
	}
	for _, numbers := range []string{"states: 4\nactions: 2", "states: 3\nactions: 1", "states: 3\nactions: 9"} {
		_, err := parseOptions([]byte(numbers+"\noptions: [{name: a, policy: {0: 0}}]"), spec)
		if want := strings.Replace(numbers, "\n", " and ", 1) + " are not those of a/task@1, which has 3 and 2"; !errors.Is(err, framework.ErrUnsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	pair := must.Get(parseOptions([]byte(`{"states": 3, "actions": 2, "options": [{"name": "\ud835\udf00", "policy": {"0": 1}}]}`), spec))(t)
	if pair[0].Name != "𝜀" {
		t.Errorf("a name of a surrogate pair is %q", pair[0].Name)
	}
	if _, err := parseOptions([]byte("\n"), spec); err == nil || err.Error() != "the file is empty" {
		t.Error(err)
	}
	if _, err := parseOptions([]byte("state: 3\nactions: 2\n"), spec); err == nil || err.Error() != "no file of options: line 1: unknown key state; did you mean states?" {
		t.Error(err)
	}
	if _, err := parseOptions([]byte("states: 3.5\nactions: 2\n"), spec); err == nil || !strings.Contains(err.Error(), "3.5 is no whole number") {
		t.Error(err)
	}
}

// Whatever is in a file of options, it is read or refused with an error of one line.
func FuzzOptions(f *testing.F) {
	f.Add([]byte("states: 3\nactions: 2\noptions:\n  - {name: a, policy: {0: 1, 1: [0.5, 0.5]}, end: {1: 0.5}, initiation: [0]}\n"))
	f.Add([]byte(`{"states": 1, "actions": 1, "options": [{"name": "a", "policy": {"0": 0}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := parseOptions(data, framework.Spec{}); err != nil && (err.Error() == "" || strings.Contains(err.Error(), "\n")) {
			t.Fatalf("%q", err)
		}
	})
}

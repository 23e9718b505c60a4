package fields

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDiffer(t *testing.T) {
	type bounds struct {
		ID        string
		RewardLow float64
		Doc       string
	}
	a := bounds{"a", 1, "x"}
	for _, tt := range []struct {
		b    bounds
		want string
	}{
		{a, ""}, {bounds{"b", 1, "x"}, "id"}, {bounds{"a", 2, "y"}, "reward low"}, {bounds{"a", 1, "y"}, ""},
	} {
		if got, _, _ := Differ(a, tt.b, "Doc"); got != tt.want {
			t.Errorf("%v and %v differ in %q, want %q", a, tt.b, got, tt.want)
		}
	}
}

// Of long values the message has the place where they differ.
func TestExcerpts(t *testing.T) {
	type schema struct{ Params json.RawMessage }
	head, tail := strings.Repeat("x", 1000), strings.Repeat("y", 1000)
	name, was, is := Differ(schema{json.RawMessage(head + `1` + tail)}, schema{json.RawMessage(head + `2` + tail)})
	if name != "params" || !strings.Contains(was, "x1y") || !strings.Contains(is, "x2y") || len(was) > 100 {
		t.Errorf("%s: %s and %s", name, was, is)
	}
	if _, was, is := Differ(schema{json.RawMessage(`1`)}, schema{json.RawMessage(`2`)}); was != "1" || is != "2" {
		t.Errorf("%s and %s", was, is)
	}
}

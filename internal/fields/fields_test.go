package fields

import "testing"

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

package spelling

import "testing"

func TestShown(t *testing.T) {
	if a, b := Shown(" caf\u00e9"), Shown("cafe\u0301 "); a != b {
		t.Errorf("%q and %q look alike", a, b)
	}
	if Shown("g") == Shown("G") {
		t.Error("g and G do not look alike")
	}
}

func TestClosest(t *testing.T) {
	for _, tt := range []struct{ word, want string }{
		{"membrs", "members"}, {"Gama", "gamma"}, {"A", "a"}, {"k", ""}, {"sd", ""}, {"ab", "a"}, {"", ""}, {"memebrs", "members"}, {"pu", "up"}, {"ux", "up"}, {"xy", ""},
	} {
		if got := Closest(tt.word, []string{"a", "members", "gamma", "up"}); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.word, got, tt.want)
		}
	}
}

package spelling

import "testing"

func TestClosest(t *testing.T) {
	for _, tt := range []struct{ word, want string }{
		{"membrs", "members"}, {"Gama", "gamma"}, {"A", "a"}, {"k", ""}, {"sd", ""}, {"ab", "a"}, {"", ""}, {"memebrs", "members"}, {"pu", "up"}, {"ux", "up"}, {"xy", ""},
	} {
		if got := Closest(tt.word, []string{"a", "members", "gamma", "up"}); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.word, got, tt.want)
		}
	}
}

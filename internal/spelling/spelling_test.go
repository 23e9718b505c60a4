package spelling

import "testing"

func TestClosest(t *testing.T) {
	for _, tt := range []struct{ word, want string }{
		{"membrs", "members"}, {"Gama", "gamma"}, {"A", "a"}, {"k", ""}, {"sd", ""}, {"ab", "a"}, {"", ""}, {"memebrs", "members"},
	} {
		if got := Closest(tt.word, []string{"a", "members", "gamma"}); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.word, got, tt.want)
		}
	}
}

package brief

import (
	"strings"
	"testing"
)

func TestTexts(t *testing.T) {
	same, tail := strings.Repeat("é", 50), strings.Repeat("x", 100)
	for _, tt := range []struct{ a, b, wantA, wantB string }{
		{"", "short", "", "short"},
		{same + "1" + tail, same + "2" + tail, "…" + same[:40] + "1" + tail[:39] + "…", "…" + same[:40] + "2" + tail[:39] + "…"},
		{"a" + tail, "b", "a" + tail[:59] + "…", "b"},
		{same, same + "1" + tail, same, "…" + same[:40] + "1" + tail[:39] + "…"},
	} {
		if a, b := Texts(tt.a, tt.b); a != tt.wantA || b != tt.wantB {
			t.Errorf("%q and %q: %q and %q", tt.a, tt.b, a, b)
		}
	}
}

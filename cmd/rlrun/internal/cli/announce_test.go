package cli

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Slow work is reported, fast work is not, and nothing is reported after its
// end.
func TestAnnounce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for took, want := range map[time.Duration]string{999 * time.Millisecond: "", 1001 * time.Millisecond: "at work\n"} {
			var b strings.Builder
			end := Announce(&b, time.Second, "at work")
			time.Sleep(took)
			end()
			time.Sleep(time.Second)
			if b.String() != want {
				t.Errorf("after %v: got %q, want %q", took, b.String(), want)
			}
		}
	})
}

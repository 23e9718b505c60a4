package comparecmd

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The time that is left follows from the pace of the tests: what came before them does not count.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		tell := progress(&b)
		time.Sleep(time.Minute)
		for made := range 100 {
			tell(made+1, 100)
			time.Sleep(time.Second / 5)
		}
		want := "rlrun: 26 of 100 comparisons, about 14 s left\nrlrun: 76 of 100 comparisons, about 4.7 s left\n"
		if b.String() != want {
			t.Errorf("got %q, want %q", b.String(), want)
		}
	})
}

package mdpcmd

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A long solution is told of after 2, 4 and 8 s, and so on up to once a minute.
func TestTell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		tell := (&process{stderr: &b}).tell()
		for sweep := range 300 {
			time.Sleep(time.Second)
			tell(sweep+1, 0.5)
		}
		const want = "2 sweeps in 2.0 s: the optimum is known to ±0.5\n4 sweeps in 4.0 s: the optimum is known to ±0.5\n"
		if lines := strings.Count(b.String(), "\n"); !strings.HasPrefix(b.String(), want) || lines != 9 {
			t.Errorf("%d lines:\n%s", lines, &b)
		}
	})
}

//go:build unix

package processor

import (
	"time"

	"golang.org/x/sys/unix"
)

func own() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

package cputime

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now returns the processor time until now of the calling thread and of the processes with
// the given ids, which may be those of others. It is not known if a process has ended. The caller
// has locked its goroutine to the thread.
func Now(processes ...int) (sum time.Duration, known bool) {
	return read(unix.CLOCK_THREAD_CPUTIME_ID, processes)
}

// Whole is Now with all threads of this process, for benchmarks. Elsewhere than on Linux it is
// the clock.
func Whole(processes ...int) time.Duration {
	sum, _ := read(unix.CLOCK_PROCESS_CPUTIME_ID, processes)
	return sum
}

// read adds up an own clock and those of processes.
func read(own int32, processes []int) (sum time.Duration, known bool) {
	clocks := []int32{own}
	for _, id := range processes {
		const scheduled = 2 // the clock of clock_getcpuclockid(3)
		clocks = append(clocks, ^int32(id)<<3|scheduled)
	}
	for _, clock := range clocks {
		var t unix.Timespec
		if unix.ClockGettime(clock, &t) != nil {
			return 0, false
		}
		sum += time.Duration(t.Nano())
	}
	return sum, true
}

package plugin_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// processorTime is what this process and others have used of the processor, in user and system
// mode. Load on the machine changes it less than it changes the clock. On systems without /proc
// it is that of this process.
func processorTime(t testing.TB, pids []int) time.Duration {
	t.Helper()
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		t.Fatal(err)
	}
	sum := time.Duration(own.Utime.Nano() + own.Stime.Nano())
	for _, pid := range pids {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		for _, path := range threads {
			data, _ := os.ReadFile(path)
			first, _, _ := bytes.Cut(data, []byte(" "))
			ns, _ := strconv.ParseInt(string(first), 10, 64)
			sum += time.Duration(ns)
		}
	}
	return sum
}

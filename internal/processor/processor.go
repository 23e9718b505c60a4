// Package processor measures the time that benchmarks take of the processor. Other load on the
// machine changes it less than it changes the clock.
package processor

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Time is what this process and others have used of the processor, in user and system mode, since
// they began. Others are seen only where there is /proc; elsewhere than on Unix it is the clock.
func Time(others ...int) time.Duration {
	sum := own()
	for _, pid := range others {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		for _, path := range threads {
			data, _ := os.ReadFile(path) // a thread may have ended
			first, _, _ := bytes.Cut(data, []byte(" "))
			ns, _ := strconv.ParseInt(string(first), 10, 64)
			sum += time.Duration(ns)
		}
	}
	return sum
}

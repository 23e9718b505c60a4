// Package cputime measures processor time: of the calling thread and of other processes. It measures on Linux only.
package cputime

import (
	"os"
	"regexp"
	"runtime"
)

var model = regexp.MustCompile(`(?m)^model name\s*:\s*(.+)$`)

// Processor names the model of the machine's processor where Linux tells, else its architecture.
func Processor() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	if m := model.FindSubmatch(info); m != nil {
		return string(m[1])
	}
	return runtime.GOARCH
}

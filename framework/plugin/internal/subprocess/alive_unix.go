//go:build unix

package subprocess

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// Alive tells whether a process runs. A zombie, which has ended and was not waited for,
// does not.
func Alive(pid int) bool {
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		_, noProc := os.Stat("/proc/self")
		return noProc != nil || !errors.Is(err, os.ErrNotExist)
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}

//go:build unix

package subprocess

import (
	"os"
	"syscall"
)

// wasKilled tells whether a process ended by SIGKILL.
func wasKilled(state *os.ProcessState) bool {
	if state == nil {
		return false
	}
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

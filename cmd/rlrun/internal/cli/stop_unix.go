//go:build unix

package cli

import (
	"os/exec"
	"syscall"
)

// StopTogether ends a command and the processes that it started when its context ends.
func StopTogether(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}

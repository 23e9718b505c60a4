//go:build unix

package submitcmd

import (
	"os/exec"
	"syscall"
)

// stopTogether ends a command and the processes that it started when its context ends.
func stopTogether(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}

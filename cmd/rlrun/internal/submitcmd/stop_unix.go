//go:build unix

package submitcmd

import (
	"os/exec"
	"syscall"
)

// stopTogether makes the end of a command's context end the processes that it started, too.
func stopTogether(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}

//go:build unix && !linux

package subprocess

import (
	"os/exec"
	"syscall"
)

// setProcessAttributes gives the plugin a process group of its own, so that the
// terminal's interrupt does not reach it and that it can be killed with its
// children.
func setProcessAttributes(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// raiseOOMScore does nothing: only Linux lets a process say which one to end first.
func raiseOOMScore(int) {}

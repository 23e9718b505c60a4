package subprocess

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// setProcessAttributes gives the plugin a process group of its own, so that the
// terminal's interrupt does not reach it and that it can be killed with its
// children, and has the kernel kill it when its host dies.
func setProcessAttributes(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// killGroup kills a process and all that it started.
func killGroup(p *os.Process) error {
	if err := syscall.Kill(-p.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

package subprocess

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// setProcessAttributes gives the plugin a process group of its own, so that the
// terminal's interrupt does not reach it and that it can be killed with its
// children, and has the kernel kill it when its host dies.
func setProcessAttributes(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// onMainThread tells whether the caller's thread is the one by which the kernel knows
// the host.
func onMainThread() bool { return syscall.Gettid() == os.Getpid() }

// sacrifice makes the kernel, when the machine runs out of memory, end a plugin
// and what it starts rather than its host. /proc may be absent.
func sacrifice(pid int) {
	own, err := os.ReadFile("/proc/self/oom_score_adj")
	if err != nil {
		return
	}
	if score, err := strconv.Atoi(strings.TrimSpace(string(own))); err == nil {
		_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), fmt.Append(nil, min(score+300, 1000)), 0)
	}
}

// killGroup kills a process and all that it started.
func killGroup(p *os.Process) error {
	if err := syscall.Kill(-p.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

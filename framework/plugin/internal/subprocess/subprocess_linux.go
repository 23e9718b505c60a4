package subprocess

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// setProcessAttributes gives the plugin a process group of its own. So the
// terminal's interrupt does not reach it, and it can be killed with its
// children. The kernel also kills it when its host dies.
func setProcessAttributes(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// raiseOOMScore makes the kernel, when the machine runs out of memory, end a plugin
// and what it starts rather than its host. /proc may be absent.
func raiseOOMScore(pid int) {
	own, err := os.ReadFile("/proc/self/oom_score_adj")
	if err != nil {
		return
	}
	if score, err := strconv.Atoi(strings.TrimSpace(string(own))); err == nil {
		_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), fmt.Append(nil, min(score+300, 1000)), 0)
	}
}

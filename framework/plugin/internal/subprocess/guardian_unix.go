//go:build unix

package subprocess

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
)

// guardianVariable is the environment variable by which a program knows that it is to be
// the guardian of another process of itself.
const guardianVariable = "RLRUN_GUARDIAN"

// init makes a process that was started as a guardian one, and ends it with the host.
func init() {
	if os.Getenv(guardianVariable) != "" {
		guard(os.Stdin)
		os.Exit(0)
	}
}

// guard reads the process groups of plugins from a pipe: n when group n has started, and -n
// when it has ended. The kernel closes the pipe when the host ends, even if it is killed. Then
// guard kills the groups that are left.
func guard(host io.Reader) {
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM)
	left := map[int]bool{}
	for n := 0; ; {
		if _, err := fmt.Fscan(host, &n); err != nil {
			break
		}
		if n > 0 {
			left[n] = true
		} else {
			delete(left, -n)
		}
	}
	for group := range left {
		_ = syscall.Kill(-group, syscall.SIGKILL)
	}
}

// guardian returns the pipe to the guardian of this process, which it starts at the first
// call. If none can be started, nobody reads what is written.
var guardian = sync.OnceValue(func() io.Writer {
	program, err := os.Executable()
	if err != nil {
		return io.Discard
	}
	if runtime.GOOS == "linux" {
		program = "/proc/self/exe" // this program, even if its file was replaced
	}
	cmd := exec.Command(program)
	cmd.Args = []string{"rlrun-guardian"}
	cmd.Env = []string{guardianVariable + "=1"}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no signal to the host's group or terminal reaches it
	host, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return io.Discard
	}
	return host
})

// guardGroup tells the guardian that the group of a process has started.
func guardGroup(pid int) { fmt.Fprintln(guardian(), pid) }

// dismissGroup tells the guardian that the group of a process has ended.
func dismissGroup(pid int) { fmt.Fprintln(guardian(), -pid) }

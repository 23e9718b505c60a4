//go:build unix

package plugin_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/rlrun/rlrun/internal/must"
)

// A host that is suspended for longer than the limit of a call, by Ctrl-Z or by a
// scheduler, does not blame the plugin.
func TestSuspendedHost(t *testing.T) {
	t.Parallel()
	const limit = 2 * time.Second
	host := exec.Command(os.Args[0], "host", os.Args[0], "serve-environment")
	host.Env = append(os.Environ(), "HOST_CALL="+limit.String())
	out := must.Get(host.StdoutPipe())(t)
	must.Do(t, host.Start())
	ended := make(chan error, 1)
	var pid int
	line, err := bufio.NewReader(out).ReadString('\n')
	if _, bad := fmt.Sscan(line, &pid); err != nil || bad != nil {
		t.Fatalf("the host says %q: %v", line, err)
	}
	go func() { ended <- host.Wait() }()
	defer host.Process.Kill()
	signal := func(pid int, s syscall.Signal) {
		t.Helper()
		must.Do(t, kill(pid, s))
	}
	signal(pid, syscall.SIGSTOP) // so that a call is under way
	time.Sleep(limit / 20)
	signal(host.Process.Pid, syscall.SIGSTOP)
	time.Sleep(limit + limit/4)
	signal(host.Process.Pid, syscall.SIGCONT)
	time.Sleep(limit / 20)
	_ = kill(pid, syscall.SIGCONT) // it may be gone
	select {
	case <-ended:
		t.Error("the host gave the plugin up")
	case <-time.After(limit / 4):
	}
	if !alive(pid) {
		t.Error("the plugin was ended")
	}
}

// Nor does one that is suspended while a plugin starts, for longer than any limit of a start.
func TestHostSuspendedAtTheStart(t *testing.T) {
	t.Parallel()
	const limit = 4500 * time.Millisecond // less than the 5 s for which the host is suspended
	begun := filepath.Join(t.TempDir(), "begun")
	host := exec.Command(os.Args[0], "host", "sh", "-c", `>"$1"; sleep 5.2; exec "$0" serve-environment`, os.Args[0], begun)
	host.Env = append(os.Environ(), "HOST_START="+limit.String())
	out := must.Get(host.StdoutPipe())(t)
	must.Do(t, host.Start())
	defer func() {
		_ = host.Process.Kill()
		_ = host.Wait()
	}()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(begun); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the plugin did not begin to start")
		}
	}
	for _, s := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		must.Do(t, kill(host.Process.Pid, s))
		if s == syscall.SIGSTOP {
			time.Sleep(5 * time.Second)
		}
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	var pid int
	if _, bad := fmt.Sscan(line, &pid); err != nil || bad != nil {
		t.Errorf("the host says %q: %v", line, err)
	}
}

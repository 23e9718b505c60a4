//go:build unix

package plugin_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/internal/must"
)

// childrenOf are ways in which a plugin starts processes: a child, and a grandchild whose
// parent is gone, and one that is stopped. They are in the plugin's process group.
func childrenOf() map[string]*exec.Cmd {
	// A process that is stopped makes the kernel send SIGHUP to a group whose leader ends.
	const ignore = "trap '' HUP; "
	const orphan = ignore + "sleep 1000 < /dev/null > /dev/null 2>&1 & echo $!"
	return map[string]*exec.Cmd{
		"child":   exec.Command("/bin/sh", "-c", ignore+"echo $$; exec sleep 1000 > /dev/null 2>&1"),
		"orphan":  exec.Command("/bin/sh", "-c", orphan),
		"stopped": exec.Command("/bin/sh", "-c", orphan+"; kill -STOP $!"),
	}
}

// serveWithChildren is a plugin that starts processes and writes their numbers to a
// file before it serves.
func serveWithChildren(file string) {
	text := ""
	for name, cmd := range childrenOf() {
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			panic(err)
		}
		pid, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			panic(err)
		}
		text += strings.TrimSpace(pid) + " " + name + "\n"
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		panic(err)
	}
	plugin.Serve(faultyEnvironment())
}

// children reads what serveWithChildren has written. The processes live.
func children(t *testing.T, file string) map[string]int {
	t.Helper()
	text := must.Get(os.ReadFile(file))(t)
	list := map[string]int{}
	for line := range strings.Lines(string(text)) {
		number, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		pid, err := strconv.Atoi(number)
		if err != nil || !alive(pid) {
			t.Fatalf("%s: %s is not alive (%v)", name, number, err)
		}
		t.Cleanup(func() { kill(pid, syscall.SIGKILL) })
		list[name] = pid
	}
	if len(list) != len(childrenOf()) {
		t.Fatalf("started %v", list)
	}
	return list
}

// If the host is killed, everything that its plugin has started also ends. This also holds
// if the whole process group of the host is killed.
func TestHostIsKilled(t *testing.T) {
	for name, group := range map[string]bool{"": false, "process group": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "children")
			host := exec.Command(os.Args[0], "host", os.Args[0], "serve-with-children", file)
			host.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			host.Stderr = os.Stderr
			out, err := host.StdoutPipe()
			if err == nil {
				err = host.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			pid, number := strconv.Atoi(strings.TrimSpace(line))
			if err := errors.Join(err, number); err != nil {
				t.Fatalf("the host says %q (%v)", line, err)
			}
			started := children(t, file)
			target := host.Process.Pid
			if group {
				target = -target
			}
			must.Do(t, syscall.Kill(target, syscall.SIGKILL))
			host.Wait()
			waitForEnd(t, pid)
			for name, pid := range started {
				t.Log(name)
				waitForEnd(t, pid)
			}
		})
	}
}

// On Linux the kernel ends a plugin's process that looks after nothing, if the guardian was
// killed before the host.
func TestKernelEndsThePlugin(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux kills a process with its parent")
	}
	file := filepath.Join(t.TempDir(), "pid")
	host := exec.Command(os.Args[0], "host", "/bin/sh", "-c", `trap "" HUP; echo $$ > "$1"; "$0" serve-environment & exec sleep 1000`, os.Args[0], file)
	host.Stderr = os.Stderr
	out, err := host.StdoutPipe()
	if err == nil {
		err = host.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // it steps
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	pid, number := strconv.Atoi(strings.TrimSpace(string(text)))
	must.Do(t, errors.Join(err, number))
	t.Cleanup(func() { kill(pid, syscall.SIGKILL) })
	guardian := 0
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		stat, _ := os.ReadFile(file)
		command, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		_, state, _ := strings.Cut(string(stat), ") ") // then the parent
		if len(state) > 1 && strings.HasPrefix(state[1:], fmt.Sprintf(" %d ", host.Process.Pid)) && strings.Contains(string(command), "rlrun-guardian") {
			guardian, _ = strconv.Atoi(filepath.Base(filepath.Dir(file)))
		}
	}
	if guardian == 0 {
		t.Fatal("the host has no guardian")
	}
	for _, pid := range []int{guardian, host.Process.Pid} {
		must.Do(t, syscall.Kill(pid, syscall.SIGKILL))
	}
	host.Wait()
	waitForEnd(t, pid)
}

// However a plugin ends while its host lives, everything that it has started ends
// with it.
func TestChildrenEndWithThePlugin(t *testing.T) {
	for name, end := range map[string]func(p *plugin.Process) error{
		"closed": func(p *plugin.Process) error { return p.Close() },
		"killed": func(p *plugin.Process) error { return kill(p.Pid(), syscall.SIGKILL) },
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "children")
			p := launch(t, plugin.LaunchConfig{}, "serve-with-children", file)
			started := children(t, file)
			must.Do(t, end(p))
			for name, pid := range started {
				t.Log(name)
				waitForEnd(t, pid)
			}
		})
	}
}

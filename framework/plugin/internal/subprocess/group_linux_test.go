package subprocess

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rlrun/rlrun/internal/must"
)

// The test's program is every process that a test needs.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 {
		os.Exit(m.Run())
	}
	switch os.Args[1] {
	case "groups": // says where it is, as soon as it is
		text, _ := os.ReadFile("/proc/self/cgroup")
		os.Stderr.Write(text)
		fmt.Fprintln(os.Stderr, "all")
		time.Sleep(time.Hour)
	case "hog":
		hog()
	case "parent": // of a hog, whose end it survives
		_ = exec.Command(os.Args[0], "hog").Run()
		fmt.Fprintln(os.Stderr, "bereft")
		time.Sleep(time.Hour)
	case "daemon": // is left by one in a session of its own
		child := exec.Command("sleep", "1000")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		_ = child.Start()
		fmt.Fprintln(os.Stderr, child.Process.Pid)
	default:
		os.Exit(m.Run())
	}
}

// hog fills memory until it is stopped; 1 GiB is what a machine has to spare.
func hog() {
	var held [][]byte
	for range 256 {
		b := make([]byte, 4<<20)
		for i := range b {
			b[i] = 1
		}
		held = append(held, b)
	}
	runtime.KeepAlive(held)
}

// begin starts the test's program with a limit. noGroup is why the kernel is not
// to keep it, if it is not.
func begin(limit int64, noGroup error, arg string) (*Subprocess, *bufio.Scanner) {
	s := New(exec.Command(os.Args[0], arg), NewTail(10))
	s.noGroup = noGroup
	s.LimitMemory(limit)
	go io.Copy(io.Discard, s.Stdout())
	lines := bufio.NewScanner(s.Stderr())
	if err := s.Start(context.Background()); err != nil {
		panic(err)
	}
	return s, lines
}

// drain reads on, so that the process does not wait.
func drain(lines *bufio.Scanner) {
	for lines.Scan() {
	}
}

// needGroups skips where this user may make no groups.
func needGroups(t *testing.T) {
	t.Helper()
	g, err := newGroup(1 << 30)
	if err != nil {
		t.Skip("no control group with the memory controller can be made here: ", err)
	}
	g.remove()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// A process is in its group before it does anything, its host never stays there,
// and the group ends with it.
func TestGroup(t *testing.T) {
	needGroups(t)
	before := must.Get(os.ReadFile("/proc/thread-self/cgroup"))(t)
	s, lines := begin(64<<20, nil, "groups")
	if s.group == nil {
		t.Fatal(s.noGroup)
	}
	found := false
	for lines.Scan() && lines.Text() != "all" {
		found = found || strings.HasSuffix(lines.Text(), "/"+filepath.Base(s.group.path))
	}
	go drain(lines)
	if !found {
		t.Error("the process did not begin in its group")
	}
	if s.MemoryLimit() != "a control group" {
		t.Error(s.MemoryLimit())
	}
	must.Do(t, s.Kill(t.Context()))
	<-s.Done()
	if exists(s.group.path) {
		t.Error("the group is still there")
	}
	if got := s.Ending(); got != "signal: killed" {
		t.Errorf("ending: %s", got)
	}
	if after, _ := os.ReadFile("/proc/thread-self/cgroup"); string(after) != string(before) {
		t.Errorf("the host was in %s, is in %s", before, after)
	}
}

// Who keeps the limit, for whom, and what is then said.
func TestMemoryLimit(t *testing.T) {
	for _, by := range []struct {
		name    string
		noGroup error
		text    string
	}{
		{"kernel", nil, "killed: the kernel gave it no more memory, its limit is 64 MiB"},
		{"host", errors.New("a test"), "of memory, its limit is 64 MiB"},
	} {
		for _, who := range []string{"hog", "parent"} {
			t.Run(by.name+"/"+who, func(t *testing.T) {
				if by.noGroup == nil {
					needGroups(t)
				}
				s, lines := begin(64<<20, by.noGroup, who)
				go drain(lines)
				<-s.Done()
				if got := s.Ending(); !strings.HasSuffix(got, by.text) || s.Killed() {
					t.Errorf("got %q, want …%q; killed %v", got, by.text, s.Killed())
				}
				if s.group != nil && exists(s.group.path) {
					t.Error("the group is still there")
				}
				if by.noGroup != nil && s.MemoryLimit() != "looking every 20ms (a test)" {
					t.Error(s.MemoryLimit())
				}
			})
		}
	}
}

// A process that leaves the process group is still in the control group, and
// ends with the plugin.
func TestGroupCatchesDaemons(t *testing.T) {
	needGroups(t)
	s, lines := begin(64<<20, nil, "daemon")
	var pid int
	if lines.Scan(); true {
		fmt.Sscan(lines.Text(), &pid)
	}
	drain(lines)
	<-s.Done()
	if pid < 2 {
		t.Fatalf("the daemon is said to be %d", pid)
	}
	for range 100 { // until whoever inherits it has seen its end
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(state), ") Z ") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("it lives on")
}

// If the process cannot be started in its group, it is started nevertheless, and
// the host keeps the limit.
func TestGroupIsRefused(t *testing.T) {
	s := New(exec.Command(os.Args[0], "hog"), NewTail(10))
	s.LimitMemory(64 << 20)
	s.group = &group{t.TempDir()}
	go io.Copy(io.Discard, s.Stdout())
	go io.Copy(io.Discard, s.Stderr())
	must.Do(t, s.startLimited())
	if s.group != nil || s.noGroup == nil {
		t.Errorf("group %v, because %v", s.group, s.noGroup)
	}
	must.Do(t, errors.Join(s.cmd.Process.Kill()))
	s.cmd.Wait()
}

// In which directory groups are made, by what the kernel says of the host's own.
func TestGroupParent(t *testing.T) {
	for self, want := range map[string]string{
		"0::/user.slice/app:1.scope\n": "/mount/user.slice/app:1.scope",
		"0::/a/rlrun-host":             "/mount/a",
		"1:cpu:/x\n0::/y":              "/mount/y",
		"1:cpu:/x\n4:memory:/y\n":      "",
	} {
		file := filepath.Join(t.TempDir(), "cgroup")
		must.Do(t, os.WriteFile(file, []byte(self), 0o600))
		if got, err := groupParent("/mount", file); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q (%v), want %q", self, got, err, want)
		}
	}
}

// files makes a directory with files, as the kernel does.
func files(t *testing.T, content map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range content {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

// What is written into a group, and what is read from it.
func TestGroupFiles(t *testing.T) {
	for _, tt := range []struct {
		name     string
		there    map[string]string
		want     map[string]string
		exceeded bool
	}{
		{name: "killed at its limit",
			there:    map[string]string{"memory.max": "", "memory.swap.max": "", "memory.oom.group": "", "memory.events": "low 0\nhigh 0\nmax 7\noom 1\noom_kill 2\noom_group_kill 1\n"},
			want:     map[string]string{"memory.max": "67108864", "memory.swap.max": "0", "memory.oom.group": "1"},
			exceeded: true},
		{name: "without swap, killed at another limit",
			there: map[string]string{"memory.max": "", "memory.oom.group": "", "memory.events": "oom 0\noom_kill 1\n"},
			want:  map[string]string{"memory.max": "67108864"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := &group{files(t, tt.there)}
			must.Do(t, g.limit(64<<20))
			for name, want := range tt.want {
				if got, _ := os.ReadFile(filepath.Join(g.path, name)); string(got) != want {
					t.Errorf("%s: got %q, want %q", name, got, want)
				}
			}
			if g.exceeded() != tt.exceeded {
				t.Errorf("exceeded: %v", g.exceeded())
			}
		})
	}
	if err := (&group{t.TempDir()}).limit(1); err == nil {
		t.Error("a limit that cannot be written is no error")
	}
}

// A group's memory can be bounded only if the group above has the controller.
func TestEnableMemory(t *testing.T) {
	dir := files(t, map[string]string{"cgroup.controllers": "cpu pids", "cgroup.subtree_control": ""})
	if err := enableMemory(dir); err == nil || !strings.Contains(err.Error(), "has no memory controller") {
		t.Errorf("got %v", err)
	}
	dir = files(t, map[string]string{"cgroup.controllers": "cpu memory pids", "cgroup.subtree_control": ""})
	for range 2 {
		must.Do(t, enableMemory(dir))
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control")); string(got) != "+memory" {
		t.Errorf("got %q", got)
	}
}

// A real group, without the memory controller, which machines with version 1 have
// there: a process begins in it, and whatever it starts ends with it. If the host is
// killed, the guardian kills what is in the group and removes it.
func TestGroupOfVersion2(t *testing.T) {
	g := emptyGroup(t)
	s := New(exec.Command(os.Args[0], "groups"), NewTail(10))
	s.group = g
	lines := bufio.NewScanner(s.Stderr())
	go io.Copy(io.Discard, s.Stdout())
	must.Do(t, s.Start(context.Background()))
	if s.group == nil {
		t.Skip("this kernel starts no process in a group: ", s.noGroup)
	}
	found := false
	for lines.Scan() && lines.Text() != "all" {
		found = found || strings.HasSuffix(lines.Text(), "/"+filepath.Base(g.path))
	}
	go drain(lines)
	if !found {
		t.Error("the process did not begin in its group")
	}
	g.kill()
	<-s.Done()
	if exists(g.path) {
		t.Error("the group is still there")
	}
}

// emptyGroup makes a group without a limit.
func emptyGroup(t *testing.T) *group {
	t.Helper()
	for _, mount := range []string{groupMount, groupMount + "/unified"} {
		parent, err := groupParent(mount, "/proc/self/cgroup")
		if err != nil || !exists(filepath.Join(parent, "cgroup.controllers")) {
			continue
		}
		g, err := makeGroup(parent, 0)
		if err != nil {
			t.Skip("this user may make no control groups: ", err)
		}
		return g
	}
	t.Skip("there are no control groups of version 2 here")
	return nil
}

// If its host dies, a guardian kills the processes of the control group, which
// carry no mark here, and removes the group.
func TestGuardianEmptiesTheGroup(t *testing.T) {
	g := emptyGroup(t)
	defer g.remove()
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := g.start(cmd); err != nil {
		t.Skip("this kernel starts no process in a group: ", err)
	}
	defer cmd.Process.Kill()
	guard := must.Get(startGuardian("no such mark", g.path))(t)
	guard.host.Close() // as the kernel does
	cmd.Wait()
	if err := guard.cmd.Wait(); err != nil {
		t.Error(err)
	}
	if exists(g.path) {
		t.Error("the group is still there")
	}
}

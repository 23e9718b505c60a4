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
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
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
	case "host": // is killed with its process in a group
		s, lines := begin(64<<20, nil, "groups")
		for lines.Scan() && lines.Text() != "all" {
		}
		fmt.Println(s.group.path)
		time.Sleep(time.Hour)
	case "start": // is a host that comes later
		s, lines := begin(0, nil, "-test.list=none")
		drain(lines)
		<-s.Done()
	case "greedy": // starts processes by its main thread while it allocates
		go hog()
		for range 100 {
			s := New(exec.Command("true"), NewTail(10))
			s.LimitMemory(1 << 20)
			go io.Copy(io.Discard, s.Stdout())
			go io.Copy(io.Discard, s.Stderr())
			s.live(make(chan error, 1))
		}
	default:
		os.Exit(m.Run())
	}
}

// The main thread is kept for TestMain.
func init() { runtime.LockOSThread() }

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
	before, err := os.ReadFile("/proc/thread-self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
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
	for _, file := range []string{"cgroup.procs", "tasks"} {
		text, err := os.ReadFile(filepath.Join(s.group.path, file))
		if s.group.v2 && file == "tasks" {
			continue
		}
		if err != nil || slices.Contains(strings.Fields(string(text)), fmt.Sprint(os.Getpid())) {
			t.Errorf("%s: %s (%v); the host is %d", file, text, err, os.Getpid())
		}
	}
	if s.MemoryLimit() != "a control group" {
		t.Error(s.MemoryLimit())
	}
	if err := s.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
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

// What a host allocates while it starts a process does not count for the process.
func TestHostIsNotInTheGroup(t *testing.T) {
	needGroups(t)
	if text, err := exec.Command(os.Args[0], "greedy").CombinedOutput(); err != nil {
		t.Errorf("the host ended: %v\n%s", err, text)
	}
}

// What leaves the process group is still in the control group, and ends with the
// plugin.
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

// inGroup starts the test's program in a group.
func inGroup(t *testing.T, g *group, arg string) (*exec.Cmd, io.Reader) {
	t.Helper()
	runtime.LockOSThread() // see group.start
	defer runtime.UnlockOSThread()
	cmd := exec.Command(os.Args[0], arg)
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = g.start(cmd)
	}
	if err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

// What a host leaves behind that is killed, the next start removes, and not what
// belongs to one that lives. All of it happens in a group of the test's own, where
// nobody else, be it the kernel, removes what is left.
func TestStaleGroups(t *testing.T) {
	needGroups(t)
	g, err := newGroup(1 << 30)
	if err != nil {
		t.Fatal(err)
	}
	defer g.remove()
	defer hierarchy{v2: g.v2, parent: g.path}.removeStale() // if the test fails
	if err := ifThere(write(g.path, "notify_on_release", "0")); err != nil {
		t.Fatal(err)
	}
	home := g
	if g.v2 { // a group with others below it holds no process
		home = &group{hierarchy: g.hierarchy, path: filepath.Join(g.path, hostGroup)}
		if err := os.Mkdir(home.path, 0o755); err != nil {
			t.Fatal(err)
		}
		defer home.remove()
		if home.dir, err = os.Open(home.path); err != nil {
			t.Fatal(err)
		}
	}
	host, out := inGroup(t, home, "host")
	line, err := bufio.NewReader(out).ReadString('\n')
	path := strings.TrimSpace(line)
	if err != nil || filepath.Dir(path) != g.path || !exists(path) {
		t.Fatalf("the host says %q (%v), want a folder in %s", line, err, g.path)
	}
	start := func() { // without a limit, too, a start removes what is left
		next, _ := inGroup(t, home, "start")
		if err := next.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	start()
	if !exists(path) {
		t.Error("the group of a host that lives is gone")
	}
	host.Process.Kill()
	host.Wait()
	if !exists(path) {
		t.Error("the group is gone before the next start")
	}
	start()
	if exists(path) {
		t.Error("the group of the dead host is still there")
	}
}

// Where the process cannot be started in its group it is started nevertheless, and
// the host keeps the limit.
func TestGroupIsRefused(t *testing.T) {
	s := New(exec.Command(os.Args[0], "hog"), NewTail(10))
	s.LimitMemory(64 << 20)
	s.group = &group{hierarchy: hierarchy{parent: t.TempDir()}, path: t.TempDir()}
	go io.Copy(io.Discard, s.Stdout())
	go io.Copy(io.Discard, s.Stderr())
	if err := s.startIn(); err != nil {
		t.Fatal(err)
	}
	if s.group != nil || s.noGroup == nil {
		t.Errorf("group %v, because %v", s.group, s.noGroup)
	}
	if err := errors.Join(s.cmd.Process.Kill()); err != nil {
		t.Fatal(err)
	}
	s.cmd.Wait()
}

// Which control group is the host's, by what the kernel says of it.
func TestOwnHierarchy(t *testing.T) {
	mount := t.TempDir()
	for _, tt := range []struct {
		name, self string
		want       hierarchy
	}{
		{"version 1", "9:name=systemd:/\n4:cpu,memory:/job/1\n0::/job", hierarchy{parent: mount + "/memory/job/1"}},
		{"version 2", "0::/user.slice/app:1.scope\n", hierarchy{v2: true, parent: mount + "/user.slice/app:1.scope"}},
		{"version 2, moved", "0::/a/rlrun-host", hierarchy{v2: true, parent: mount + "/a"}},
		{"version 2 beside others", "1:cpu:/x\n0::/y", hierarchy{v2: true, parent: mount + "/y"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			self := filepath.Join(t.TempDir(), "cgroup")
			if err := os.WriteFile(self, []byte(tt.self), 0o600); err != nil {
				t.Fatal(err)
			}
			tt.want.controller = "memory"
			if got, err := ownHierarchy(mount, self, "memory"); err != nil || got != tt.want {
				t.Errorf("got %v (%v), want %v", got, err, tt.want)
			}
		})
	}
	none := filepath.Join(mount, "none")
	if err := os.WriteFile(none, []byte("1:cpu:/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ownHierarchy(mount, none, "memory"); err == nil {
		t.Errorf("no groups: got %v", got)
	}
}

// files makes a folder with files, as the kernel does.
func files(t *testing.T, content map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range content {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// What is written into a group, and what is read from it, in both versions.
func TestGroupFiles(t *testing.T) {
	for _, tt := range []struct {
		name     string
		v2       bool
		there    map[string]string
		want     map[string]string
		exceeded bool
	}{
		{name: "version 2, killed at its limit", v2: true,
			there:    map[string]string{"memory.max": "", "memory.swap.max": "", "memory.oom.group": "", "memory.events": "low 0\nhigh 0\nmax 7\noom 1\noom_kill 2\noom_group_kill 1\n"},
			want:     map[string]string{"memory.max": "67108864", "memory.swap.max": "0", "memory.oom.group": "1"},
			exceeded: true},
		{name: "version 2 without swap, killed at another limit", v2: true,
			there: map[string]string{"memory.max": "", "memory.oom.group": "", "memory.events": "oom 0\noom_kill 1\n"},
			want:  map[string]string{"memory.max": "67108864"}},
		{name: "version 1, killed at its limit",
			there:    map[string]string{"memory.limit_in_bytes": "", "memory.memsw.limit_in_bytes": "", "memory.max_usage_in_bytes": "67108864\n", "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n"},
			want:     map[string]string{"memory.limit_in_bytes": "67108864", "memory.memsw.limit_in_bytes": "67108864"},
			exceeded: true},
		{name: "version 1, at its limit",
			there: map[string]string{"memory.limit_in_bytes": "", "memory.max_usage_in_bytes": "67108864\n", "memory.oom_control": "oom_kill 0\n"},
			want:  map[string]string{"memory.limit_in_bytes": "67108864"}},
		{name: "version 1, killed at another limit",
			there: map[string]string{"memory.limit_in_bytes": "", "memory.max_usage_in_bytes": "50000000\n", "memory.oom_control": "oom_kill 1\n"},
			want:  map[string]string{"memory.limit_in_bytes": "67108864"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := &group{hierarchy: hierarchy{v2: tt.v2}, path: files(t, tt.there)}
			if err := g.limit(g.path, 64<<20); err != nil {
				t.Fatal(err)
			}
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
	if err := (hierarchy{v2: true}).limit(t.TempDir(), 1); err == nil {
		t.Error("a limit that cannot be written is no error")
	}
}

// Version 2 hands a controller on only if it has it, and does nothing twice.
func TestDelegateFiles(t *testing.T) {
	dir := files(t, map[string]string{"cgroup.controllers": "cpu pids", "cgroup.subtree_control": ""})
	h := hierarchy{v2: true, parent: dir, controller: "memory"}
	if err := h.delegate(); err == nil || !strings.Contains(err.Error(), "has no memory controller") {
		t.Errorf("got %v", err)
	}
	h.parent = files(t, map[string]string{"cgroup.controllers": "cpu memory pids", "cgroup.subtree_control": ""})
	for range 2 {
		if err := h.delegate(); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := os.ReadFile(filepath.Join(h.parent, "cgroup.subtree_control")); string(got) != "+memory" {
		t.Errorf("got %q", got)
	}
}

// Version 2 for real: a process begins in its group, whatever it starts ends with
// the group, and nothing is left. The memory controller may be version 1's.
func TestGroupOfVersion2(t *testing.T) {
	var h hierarchy
	for _, mount := range []string{groupMount, groupMount + "/unified"} {
		own, err := ownHierarchy(mount, "/proc/self/cgroup", "none")
		if err == nil && exists(filepath.Join(own.parent, "cgroup.controllers")) {
			h = own
		}
	}
	if h.parent == "" {
		t.Skip("there are no control groups of version 2 here")
	}
	g, err := h.newGroup(func(string) error { return nil })
	if err != nil {
		t.Skip("this user may make no control groups of version 2: ", err)
	}
	s := New(exec.Command(os.Args[0], "groups"), NewTail(10))
	s.LimitMemory(64 << 20)
	s.group = g
	lines := bufio.NewScanner(s.Stderr())
	go io.Copy(io.Discard, s.Stdout())
	if err := s.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
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

package subprocess

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	groupMount  = "/sys/fs/cgroup"
	groupPrefix = "rlrun-plugin-"
	// hostGroup is where a host goes that would be in the way: see delegate.
	hostGroup = "rlrun-host"
	killFile  = "cgroup.kill" // of version 2
)

// hierarchy is where control groups can be made: below the one that the host is
// in, so that what bounds the host goes on bounding its plugins.
type hierarchy struct {
	v2         bool
	parent     string // folder of the host's group
	controller string // memory
}

// ownHierarchy finds the hierarchy that has the memory controller. mount is where
// hierarchies are, self says in which groups this process is (cgroups(7)).
func ownHierarchy(mount, self, controller string) (hierarchy, error) {
	text, err := os.ReadFile(self)
	if err != nil {
		return hierarchy{}, err
	}
	var unified *hierarchy
	for line := range strings.Lines(string(text)) {
		number, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		names, path, _ := strings.Cut(rest, ":")
		switch {
		case slices.Contains(strings.Split(names, ","), controller):
			return hierarchy{parent: filepath.Join(mount, controller, path), controller: controller}, nil
		case number == "0" && filepath.Base(path) == hostGroup:
			path = filepath.Dir(path)
			fallthrough
		case number == "0":
			unified = &hierarchy{v2: true, parent: filepath.Join(mount, path), controller: controller}
		}
	}
	if unified == nil {
		return hierarchy{}, errors.New("there are no control groups")
	}
	return *unified, nil
}

// delegate hands the controller on to groups below the host's, where version 2
// does not do so yet. A group that does so may hold no process itself: the host,
// with what it has started, then moves into one below. It fails, and leaves
// everything as it was, where other processes share the host's group.
func (h hierarchy) delegate() error {
	has := func(file string) bool {
		text, _ := os.ReadFile(filepath.Join(h.parent, file))
		return slices.Contains(strings.Fields(string(text)), h.controller)
	}
	if !has("cgroup.controllers") {
		return fmt.Errorf("the control group %s has no %s controller", h.parent, h.controller)
	}
	const control = "cgroup.subtree_control"
	if has(control) {
		return nil
	}
	err := write(h.parent, control, "+"+h.controller)
	if !errors.Is(err, syscall.EBUSY) {
		return err
	}
	leaf := filepath.Join(h.parent, hostGroup)
	if err := os.Mkdir(leaf, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	move := func(to string) error {
		for _, pid := range append(children(os.Getpid()), os.Getpid()) {
			if err := write(to, "cgroup.procs", strconv.Itoa(pid)); err != nil && !errors.Is(err, syscall.ESRCH) {
				return err
			}
		}
		return nil
	}
	if err = move(leaf); err == nil {
		err = write(h.parent, control, "+"+h.controller)
	}
	if err != nil {
		return errors.Join(err, move(h.parent), os.Remove(leaf))
	}
	return nil
}

// group is a control group for one process and all that it starts, whose memory
// together the kernel bounds.
type group struct {
	hierarchy
	path string
	dir  *os.File // locked as long as the host lives
}

// newGroup makes a group with a limit in bytes.
func newGroup(limit int64) (*group, error) {
	h, err := ownHierarchy(groupMount, "/proc/self/cgroup", "memory")
	if err == nil && h.v2 {
		err = h.delegate()
	}
	if err != nil {
		return nil, err
	}
	return h.newGroup(func(path string) error { return h.limit(path, limit) })
}

// newGroup makes a group and prepares it.
func (h hierarchy) newGroup(prepare func(path string) error) (*group, error) {
	var failed error
	for range 3 { // another host may take it for a left one until it is locked
		path, err := os.MkdirTemp(h.parent, groupPrefix)
		if err != nil {
			return nil, err
		}
		g := &group{hierarchy: h, path: path}
		if g.dir, err = os.Open(path); err == nil {
			if err = syscall.Flock(int(g.dir.Fd()), syscall.LOCK_EX); err == nil {
				err = prepare(path)
			}
			if _, missing := os.Stat(filepath.Join(path, killFile)); h.v2 && missing != nil {
				err = errors.Join(err, errors.New("this Linux is older than 5.14"))
			}
		}
		if err == nil {
			return g, nil
		}
		g.remove()
		failed = err
	}
	return nil, failed
}

// limit bounds the memory of the group in a folder. Swapped-out memory counts,
// where the kernel can tell.
func (h hierarchy) limit(path string, bytes int64) error {
	amount := strconv.FormatInt(bytes, 10)
	if !h.v2 {
		return errors.Join(
			write(path, "memory.limit_in_bytes", amount),
			ifThere(write(path, "memory.memsw.limit_in_bytes", amount)))
	}
	return errors.Join(
		write(path, "memory.max", amount),
		ifThere(write(path, "memory.swap.max", "0")),
		write(path, "memory.oom.group", "1"))
}

// start starts a command in the group. With version 1 its caller has locked the
// thread, which is in the group meanwhile, as a process begins in the group of the
// thread that starts it. It is not the host's main thread, with which all that the
// host allocates meanwhile would count for the group, and end the host.
func (g *group) start(cmd *exec.Cmd) error {
	if g.v2 {
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(g.dir.Fd())
		return cmd.Start()
	}
	const this = "0"
	home := func() error { return write(g.parent, "tasks", this) }
	if err := home(); err != nil { // so that there is a way back
		return err
	}
	if err := write(g.path, "tasks", this); err != nil {
		return err
	}
	return errors.Join(cmd.Start(), home())
}

// exceeded tells whether the kernel has killed a process of the group because of
// the group's limit, and not of one above it or of the machine's.
func (g *group) exceeded() bool {
	if g.v2 {
		return g.count("memory.events", "oom_kill") > 0 && g.count("memory.events", "oom") > 0
	}
	batch := int64(64 * os.Getpagesize()) // is charged at once
	return g.count("memory.oom_control", "oom_kill") > 0 &&
		g.count("memory.max_usage_in_bytes", "")+batch > g.count("memory.limit_in_bytes", "")
}

// count reads a number from a file: that after a name, or the only one.
func (g *group) count(file, name string) (n int64) {
	text, _ := os.ReadFile(filepath.Join(g.path, file))
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if name == "" || len(fields) == 2 && fields[0] == name {
			n, _ = strconv.ParseInt(fields[len(fields)-1], 10, 64)
		}
	}
	return n
}

// kill kills what is in the group.
func (g *group) kill() {
	if g.v2 {
		_ = write(g.path, killFile, "1")
		return
	}
	text, _ := os.ReadFile(filepath.Join(g.path, "cgroup.procs"))
	for field := range strings.FieldsSeq(string(text)) {
		if pid, err := strconv.Atoi(field); err == nil && pid > 1 && pid != os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// remove kills what is in the group and removes it. What the kernel does not let
// go of in time is left to the next start.
func (g *group) remove() {
	for range 100 {
		g.kill()
		if err := os.Remove(g.path); err == nil || errors.Is(err, fs.ErrNotExist) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if g.dir != nil {
		g.dir.Close()
	}
}

// removeStale removes the groups of hosts that are no more: those that nobody has
// locked.
func (h hierarchy) removeStale() {
	entries, err := os.ReadDir(h.parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), groupPrefix) {
			continue
		}
		path := filepath.Join(h.parent, e.Name())
		dir, err := os.Open(path)
		if err != nil {
			continue
		}
		if syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
			dir.Close()
			continue
		}
		(&group{hierarchy: h, path: path, dir: dir}).remove()
	}
}

// removeStaleGroups does so where this host would make its own.
func removeStaleGroups() {
	if h, err := ownHierarchy(groupMount, "/proc/self/cgroup", "memory"); err == nil {
		h.removeStale()
	}
}

// write writes to a file that the kernel has made.
func write(dir, file, text string) error {
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// ifThere drops the error that a file is missing.
func ifThere(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

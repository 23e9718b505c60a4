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
	"time"
)

const (
	groupMount = "/sys/fs/cgroup"
	// hostGroup is the name of a control group for the host alone. Groups of plugins
	// are then made beside it: version 2 has no groups below one with processes.
	hostGroup = "rlrun-host"
	killFile  = "cgroup.kill"
)

// group is a control group, of version 2, for one process and all that it starts,
// whose memory together the kernel bounds.
type group struct{ path string }

// newGroup makes a group with a limit in bytes.
func newGroup(limit int64) (*group, error) {
	parent, err := groupParent(groupMount, "/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	if err := enableMemory(parent); err != nil {
		return nil, err
	}
	return makeGroup(parent, limit)
}

// groupParent returns the directory in which groups can be made. This is the directory
// of the host's group, so the host's bounds also bound its plugins. self says in
// which groups this process is (cgroups(7)).
func groupParent(mount, self string) (string, error) {
	text, err := os.ReadFile(self)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !ok {
			continue
		}
		if filepath.Base(path) == hostGroup {
			path = filepath.Dir(path)
		}
		return filepath.Join(mount, path), nil
	}
	return "", errors.New("there are no control groups of version 2")
}

// enableMemory lets groups below parent bound memory.
func enableMemory(parent string) error {
	const controller, control = "memory", "cgroup.subtree_control"
	has := func(file string) bool {
		text, _ := os.ReadFile(filepath.Join(parent, file))
		return slices.Contains(strings.Fields(string(text)), controller)
	}
	switch {
	case has(control):
		return nil
	case !has("cgroup.controllers"):
		return fmt.Errorf("the control group %s has no %s controller", parent, controller)
	}
	return write(parent, control, "+"+controller)
}

// makeGroup makes a group in a directory; limit 0 is none.
func makeGroup(parent string, limit int64) (*group, error) {
	path, err := os.MkdirTemp(parent, "rlrun-plugin-")
	if err != nil {
		return nil, err
	}
	g := &group{path}
	if _, err := os.Stat(filepath.Join(path, killFile)); err != nil {
		g.remove()
		return nil, errors.New("this Linux is older than 5.14")
	}
	if limit > 0 {
		err = g.limit(limit)
	}
	if err != nil {
		g.remove()
		return nil, err
	}
	return g, nil
}

// limit bounds the memory of the group, and turns off its swap where there is any.
func (g *group) limit(bytes int64) error {
	return errors.Join(
		write(g.path, "memory.max", strconv.FormatInt(bytes, 10)),
		ifThere(write(g.path, "memory.swap.max", "0")),
		write(g.path, "memory.oom.group", "1"))
}

// start starts a command in the group.
func (g *group) start(cmd *exec.Cmd) error {
	dir, err := os.Open(g.path)
	if err != nil {
		return err
	}
	defer dir.Close()
	cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(dir.Fd())
	return cmd.Start()
}

// exceeded tells whether the kernel has killed a process of the group because of
// the group's limit, and not of one above it or of the machine's.
func (g *group) exceeded() bool {
	return g.event("oom_kill") > 0 && g.event("oom") > 0
}

// event returns how often something happened to the group's memory.
func (g *group) event(name string) (n int64) {
	text, _ := os.ReadFile(filepath.Join(g.path, "memory.events"))
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == name {
			n, _ = strconv.ParseInt(fields[1], 10, 64)
		}
	}
	return n
}

// directory returns the group's path, "" for no group.
func (g *group) directory() string {
	if g == nil {
		return ""
	}
	return g.path
}

// kill kills what is in the group.
func (g *group) kill() { _ = write(g.path, killFile, "1") }

// remove kills what is in the group and removes it.
func (g *group) remove() {
	for range 100 {
		g.kill()
		if err := os.Remove(g.path); err == nil || errors.Is(err, fs.ErrNotExist) {
			return
		}
		time.Sleep(5 * time.Millisecond)
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

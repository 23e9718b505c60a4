package subprocess

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// memoryInterval is how often the memory of a process is looked at: a program
// writes to at most some tens of megabytes of new memory in it.
const memoryInterval = 20 * time.Millisecond

// CanLimitMemory says whether LimitMemory works on this system.
func CanLimitMemory() bool { return canLimitMemory }

// LimitMemory bounds the main memory, in bytes, that the process and those that
// it starts may hold together. The kernel sees to it where the host may make a
// control group with the memory controller; elsewhere the host looks at what they
// hold. Either way it is killed with all of them, and Ending says why. It must be
// called before Start.
//
// Neither counts what is only reserved: runtimes reserve far more than they use,
// so that a limit on address space (RLIMIT_AS) would stop sound programs.
func (s *Subprocess) LimitMemory(bytes int64) { s.memoryLimit = bytes }

// MemoryLimit says, for people, how the limit of memory is kept. It requires that
// Start has returned.
func (s *Subprocess) MemoryLimit() string {
	switch {
	case s.memoryLimit <= 0:
		return "none"
	case s.group != nil:
		return "a control group"
	}
	return fmt.Sprintf("looking every %v (%v)", memoryInterval, s.noGroup)
}

// startLimited starts the process, in a control group if there can be one.
func (s *Subprocess) startLimited() error {
	if s.memoryLimit > 0 && s.group == nil && s.noGroup == nil {
		s.group, s.noGroup = newGroup(s.memoryLimit)
	}
	if s.group == nil {
		return s.startGuarded()
	}
	another := &exec.Cmd{ // a command starts once
		Path: s.cmd.Path, Args: s.cmd.Args, Env: s.cmd.Env, Dir: s.cmd.Dir,
		Stdout: s.cmd.Stdout, Stderr: s.cmd.Stderr, WaitDelay: s.cmd.WaitDelay,
	}
	err := s.startGuarded()
	if err == nil {
		return nil
	}
	s.group.remove()
	s.group, s.noGroup, s.cmd = nil, err, another
	setProcessAttributes(s.cmd)
	return s.startGuarded()
}

// startGuarded starts the process, in its control group if it has one, with a
// guardian if the system has a shell.
func (s *Subprocess) startGuarded() error {
	if s.cmd.Env == nil {
		s.cmd.Env = os.Environ()
	}
	s.cmd.Env = append(s.cmd.Env, markVariable+"="+s.mark)
	s.guardian, _ = startGuardian(s.mark, s.group.directory())
	err := error(nil)
	if s.group != nil {
		err = s.group.start(s.cmd)
	} else {
		err = s.cmd.Start()
	}
	if err != nil {
		s.guardian.dismiss()
		return err
	}
	s.guardian.guard(s.cmd.Process.Pid)
	return nil
}

// watchMemory enforces the limit until the process ends.
func (s *Subprocess) watchMemory() {
	tick := time.NewTicker(memoryInterval)
	defer tick.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-tick.C:
		}
		if s.CheckMemory() != nil {
			return
		}
	}
}

// CheckMemory kills the process if it breaks its limit now. The error says so, or
// that it did before.
func (s *Subprocess) CheckMemory() error {
	pid := s.Pid()
	if s.memoryLimit <= 0 || pid == 0 {
		return nil
	}
	s.mu.Lock()
	group, overrun := s.group, s.overrun
	s.mu.Unlock()
	if overrun == "" {
		overrun = breach(pid, group, s.memoryLimit)
	}
	if overrun == "" {
		return nil
	}
	s.mu.Lock()
	s.overrun = overrun
	s.mu.Unlock()
	_ = s.Kill(context.Background())
	return errors.New(overrun)
}

// breach says how a process, in a group or not, breaks its limit, if it does.
func breach(pid int, g *group, limit int64) string {
	if g != nil {
		if g.exceeded() {
			return "killed: the kernel gave it no more memory, its limit is " + size(limit)
		}
		return ""
	}
	if held := residentBytes(pid); held > limit {
		return fmt.Sprintf("killed: it held %s of memory, its limit is %s", size(held), size(limit))
	}
	return ""
}

// size writes a number of bytes for people.
func size(bytes int64) string {
	const kib = 1 << 10
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	x, k := float64(bytes), 0
	for x >= kib && k < len(units)-1 {
		x, k = x/kib, k+1
	}
	return fmt.Sprintf("%.4g %s", x, units[k])
}

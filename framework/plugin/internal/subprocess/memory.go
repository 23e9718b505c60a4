package subprocess

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// memoryInterval is how often the memory of a process is looked at: a program
// writes to at most some tens of megabytes of new memory in it.
const memoryInterval = 20 * time.Millisecond

// LimitMemory bounds the main memory, in bytes, that the process and those that it starts
// may hold together. The host looks at what they hold, kills all of them if it is more, and
// Ending says so. It must be called before Start.
//
// What is only reserved does not count: runtimes reserve far more than they use, so that a
// limit on address space (RLIMIT_AS) would stop sound programs.
func (s *Subprocess) LimitMemory(bytes int64) { s.memoryLimit = bytes }

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
	if held := residentBytes(pid); s.overrun == "" && held > s.memoryLimit {
		s.overrun = fmt.Sprintf("killed: it held %s of memory, its limit is %s", size(held), size(s.memoryLimit))
	}
	overrun := s.overrun
	s.mu.Unlock()
	if overrun == "" {
		return nil
	}
	_ = s.Kill(context.Background())
	return errors.New(overrun)
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

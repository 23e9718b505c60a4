package host

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/rlrun/rlrun/internal/lockfile"
)

// bytecode is a directory for what Python compiles in the plugins that one command starts.
// Python takes compiled code for that of a source if the source's size and time of change in
// seconds are right, so compiled code that lies beside a source, or is older than this
// command, may be another program than the source whose digest is known.
type bytecode struct {
	mu   sync.Mutex
	dir  string // empty before the first use
	lock *lockfile.Lock
}

const (
	bytecodePrefix = "rlrun-python-"
	bytecodeLock   = ".rlrun.lock"
)

// environment returns the variables by which Python uses the directory. The first call makes
// it, and removes those that killed processes left.
func (b *bytecode) environment() ([]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dir == "" {
		left, _ := filepath.Glob(filepath.Join(os.TempDir(), bytecodePrefix+"*")) // a pattern without faults
		for _, dir := range left {
			if f, err := lockfile.Left(filepath.Join(dir, bytecodeLock)); err == nil {
				_ = os.RemoveAll(dir) // the next command tries again
				f.Close()
			}
		}
		dir, err := os.MkdirTemp("", bytecodePrefix)
		if err != nil {
			return nil, err
		}
		if b.lock, err = lockfile.Take(filepath.Join(dir, bytecodeLock)); err != nil {
			return nil, err
		}
		b.dir = dir
	}
	return []string{"PYTHONPYCACHEPREFIX=" + b.dir, "PYTHONDONTWRITEBYTECODE="}, nil
}

// close removes the directory.
func (b *bytecode) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dir != "" {
		_ = os.RemoveAll(b.dir) // the next command tries again
		_ = b.lock.Release()
		b.dir = ""
	}
}

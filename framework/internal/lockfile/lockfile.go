// Package lockfile lets one process at a time use a folder: the one that holds a
// lock on a file in it. The kernel lets go of the lock when the process ends,
// however it ends; the file alone means nothing.
package lockfile

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/gofrs/flock"
)

// Lock is a held lock.
type Lock struct{ file *flock.Flock } // nil where the file system has no locks

// HeldError says that another process holds a lock.
type HeldError struct {
	Path   string
	Holder string // such as "process 12 on ada"; empty if it has not said yet
}

// Error names the holder.
func (e *HeldError) Error() string {
	if e.Holder == "" {
		return e.Path + " is locked by another process"
	}
	return fmt.Sprintf("%s is locked by %s", e.Path, e.Holder)
}

// Take takes the lock on a file, which it makes in a folder that exists, and
// writes into it who holds it. If another process holds the lock, the error is a
// *HeldError. On a file system without locks everybody gets one.
func Take(path string) (*Lock, error) {
	for {
		f := flock.New(path, flock.SetPermissions(0o644))
		switch ok, err := f.TryLock(); {
		case errors.Is(err, errors.ErrUnsupported):
			return &Lock{}, nil
		case err != nil:
			return nil, err
		case !ok:
			holder, _ := os.ReadFile(path)
			return nil, &HeldError{Path: path, Holder: strings.TrimSpace(string(holder))}
		}
		// The holder before may have removed the file between our opening and our
		// locking it: then another process can lock the file that is there now.
		ours, err := f.Stat()
		if err != nil {
			return nil, errors.Join(err, f.Unlock())
		}
		if there, err := os.Stat(path); err != nil || !os.SameFile(ours, there) {
			if err := f.Unlock(); err != nil {
				return nil, err
			}
			continue
		}
		host, _ := os.Hostname()
		_ = os.WriteFile(path, fmt.Appendf(nil, "process %d on %s\n", os.Getpid(), host), 0o644) // for people
		return &Lock{f}, nil
	}
}

// Release removes the file and lets go of the lock.
func (l *Lock) Release() error {
	if l.file == nil {
		return nil
	}
	err := os.Remove(l.file.Path())
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, l.file.Unlock())
}

// Package lockfile lets one process at a time use a directory, or several that share it:
// the processes that hold a lock on a file in it. The kernel releases the lock when the process
// ends, however it ends; the file alone means nothing.
//
// Others may be able to write where the file is, so its name is not trusted. A
// symbolic link is not followed, and a pipe is not waited for. A file without the
// content of rlrun's locks is neither written nor removed.
package lockfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// ErrForeign means that the file of the lock's name is not a lock of rlrun.
var ErrForeign = errors.New("not a lock of rlrun")

// HeldError says that another process holds a lock.
type HeldError struct {
	Path   string // of the lock
	Holder string // such as "process 12 on ada"; empty if it has not said yet
}

// Error names the holder.
func (e *HeldError) Error() string {
	if e.Holder == "" {
		return e.Path + " is locked by another process"
	}
	return fmt.Sprintf("%s is locked by %s", e.Path, e.Holder)
}

// Lock is a held lock.
type Lock struct {
	file   *os.File // nil where the file system has no locks
	shared bool
}

// maxSize bounds the content of a lock, in bytes.
const maxSize = 1024

// content is what a lock may hold: its last holder, or nothing if the holder was
// killed early. A power cut may leave zeros.
var content = regexp.MustCompile(`^(process \d+ on [^\n\x00]*\n)?\x00*$`)

// Take takes the lock on the file at path, which it makes in a directory that exists,
// and writes the holder into it. If another process goes on holding the lock, the error is a
// *HeldError. If something else has the file's name, the error wraps ErrForeign and
// nothing is changed. On a file system without locks everybody gets one.
func Take(path string) (*Lock, error) { return take(path, false) }

// Share is Take for one of several processes that hold the lock together. The file
// names none of them.
func Share(path string) (*Lock, error) { return take(path, true) }

// patience is how long to wait for a lock. A process may be killed while it starts
// another. The new process then holds the lock for a moment, until its own program runs.
const patience = 300 * time.Millisecond

func take(path string, shared bool) (*Lock, error) {
	for began := time.Now(); ; {
		f, err := open(path)
		if err != nil {
			return nil, err
		}
		holder, err := read(f)
		if err == nil {
			err = lock(f, shared)
		}
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			return &Lock{}, f.Close()
		case errors.Is(err, errHeld):
			f.Close()
			if time.Since(began) > patience {
				return nil, &HeldError{Path: path, Holder: holder}
			}
			time.Sleep(patience / 30)
			continue
		case err != nil:
			f.Close()
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		// The last holder may have removed the file between our opening and our
		// locking it: then another process can lock the file that is there now.
		if !is(path, f) {
			f.Close()
			continue
		}
		host, _ := os.Hostname()
		if f.Truncate(0) == nil && !shared { // who holds the lock is for people
			_, _ = f.WriteAt(fmt.Appendf(nil, "process %d on %s\n", os.Getpid(), host), 0)
		}
		return &Lock{f, shared}, nil
	}
}

// Release removes the file, if it still has the name that it was taken by, and
// releases the lock. The file of a shared lock stays.
func (l *Lock) Release() error {
	if l.file == nil {
		return nil
	}
	if l.shared {
		return l.file.Close()
	}
	if runtime.GOOS == "windows" { // which removes no open file, so nor another's lock
		err := l.file.Close()
		_ = os.Remove(l.file.Name())
		return err
	}
	var err error
	if is(l.file.Name(), l.file) {
		err = os.Remove(l.file.Name())
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, l.file.Close())
}

// Left takes the lock that a dead process has left behind at path, and writes nothing. It
// fails if the file is not a lock of rlrun, says no holder, or is held. The lock is
// released when the file is closed.
func Left(path string) (*os.File, error) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(ErrForeign, err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|noFollow, 0)
	if err != nil {
		return nil, err
	}
	holder, err := read(f)
	if err == nil && holder == "" {
		err = ErrForeign
	}
	if err == nil {
		err = lock(f, false)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// open opens the file at path and makes it if there is none. It does not follow a
// link in place of the file and does not wait for the other end of a pipe.
func open(path string) (*os.File, error) {
	// Where the system cannot open without following links, this check must do.
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, foreign(path, info.Mode())
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|noFollow, 0o666)
	if errors.Is(err, fs.ErrPermission) { // another user's lock can be seen, if not written
		if readable, e := os.OpenFile(path, os.O_RDONLY|noFollow, 0); e == nil {
			return readable, nil
		}
	}
	if isLink(err) {
		return nil, foreign(path, fs.ModeSymlink)
	}
	return f, err
}

func foreign(path string, mode fs.FileMode) error {
	kind := "another kind of file"
	switch {
	case mode.IsDir():
		kind = "a directory"
	case mode&fs.ModeSymlink != 0:
		kind = "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a named pipe"
	}
	return fmt.Errorf("%s is %s, %w: move it away", path, kind, ErrForeign)
}

// read returns the holder that a lock names, or an error if f is no lock.
func read(f *os.File) (holder string, err error) {
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || links(info) > 1 || info.Size() > maxSize {
		return "", fmt.Errorf("%w: move it away", ErrForeign)
	}
	data := make([]byte, maxSize+1)
	n, err := f.ReadAt(data, 0)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return "", err
	case n > maxSize || !content.Match(data[:n]):
		return "", fmt.Errorf("%w: move it away", ErrForeign)
	}
	return strings.TrimRight(string(data[:n]), "\n\x00"), nil
}

// is tells whether path names the open file f.
func is(path string, f *os.File) bool {
	ours, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(ours, there)
}

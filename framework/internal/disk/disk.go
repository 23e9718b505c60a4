// Package disk writes files so that a crash or a power cut leaves them whole or
// absent. It is the one place where rlrun asks the file system to make data last,
// behind an interface that a test can record.
package disk

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/rlrun/rlrun/framework/internal/tempfile"
	"github.com/rlrun/rlrun/internal/inputfile"
)

// FS are the operations on a file system that change it or make changes last.
type FS interface {
	// Mkdir makes a directory.
	Mkdir(path string) error
	// CreateTemp makes a temporary file for what will be at path, in its directory.
	CreateTemp(path string) (File, error)
	// CreateExclusive makes an empty file; the error wraps fs.ErrExist if there is
	// one of that name.
	CreateExclusive(path string) error
	// Rename replaces what is at to.
	Rename(from, to string) error
	// Link gives a file a second name; the error wraps fs.ErrExist if to is taken.
	Link(from, to string) error
	// Remove removes a file or an empty directory.
	Remove(path string) error
	// SyncDir makes the entries of a directory last.
	SyncDir(path string) error
}

// File is a file that is being written; its methods are those of *os.File.
type File interface {
	io.Writer
	Name() string
	Sync() error
	Close() error
}

// OS is the operating system's file system.
type OS struct{}

// Mkdir implements FS.
func (OS) Mkdir(path string) error { return os.Mkdir(path, 0o777) }

// CreateTemp implements FS.
func (OS) CreateTemp(path string) (File, error) { return tempfile.Create(path) }

// CreateExclusive implements FS.
func (OS) CreateExclusive(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	return f.Close()
}

// Rename implements FS.
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Link implements FS.
func (OS) Link(from, to string) error { return os.Link(from, to) }

// Remove implements FS.
func (OS) Remove(path string) error { return os.Remove(path) }

// SyncDir implements FS. Some file systems cannot sync a directory; then its entries
// last as long as the system does.
func (OS) SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !unsupported(err) {
		return err
	}
	return nil
}

// unsupported says that a file system lacks an operation.
func unsupported(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EINVAL) ||
		errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.EBADF)
}

// MkdirAll makes a directory and those above it that do not exist, and makes their
// entries last.
func MkdirAll(fsys FS, path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return &fs.PathError{Op: "mkdir", Path: path, Err: syscall.ENOTDIR}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	parent := filepath.Dir(path)
	if parent != path {
		if err := MkdirAll(fsys, parent); err != nil {
			return err
		}
	}
	if err := fsys.Mkdir(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return fsys.SyncDir(parent)
}

// WriteFile writes a file so that its path holds either its former content or all
// that write wrote. It writes a temporary file beside it (package tempfile), syncs
// and renames it. The temporary file is made when write has ended or written much, so
// that work that is interrupted before leaves nothing behind.
func WriteFile(fsys FS, path string, write func(io.Writer) error) error {
	err := withTemp(fsys, path, write, func(temp string) error { return fsys.Rename(temp, path) })
	return named(path, err)
}

// Publish writes a new file like WriteFile, but never replaces one: where path,
// NAME.EXT, is taken, it takes NAME.2.EXT and so on. Several writers, on several
// machines, may publish to one directory.
func Publish(fsys FS, path string, write func(io.Writer) error) error {
	ext := filepath.Ext(path)
	base := strings.TrimSuffix(path, ext)
	err := withTemp(fsys, path, write, func(temp string) error {
		for number := 2; ; number++ {
			err := claim(fsys, temp, path)
			if err == nil || !errors.Is(err, fs.ErrExist) {
				return err
			}
			path = fmt.Sprintf("%s.%d%s", base, number, ext)
		}
	})
	return named(path, err)
}

// WriteOnce is WriteFile unless there is a file at path: of several writers, on several
// machines, one writes it. The error wraps fs.ErrExist if it was another.
func WriteOnce(fsys FS, path string, write func(io.Writer) error) error {
	if _, err := os.Lstat(path); err == nil {
		return named(path, fs.ErrExist)
	}
	err := withTemp(fsys, path, write, func(temp string) error { return claim(fsys, temp, path) })
	return named(path, err)
}

// claim gives a finished temporary file a free name. The error wraps fs.ErrExist if
// the name is taken.
func claim(fsys FS, temp, path string) error {
	err := fsys.Link(temp, path)
	switch {
	case err == nil:
		return fsys.Remove(temp)
	case errors.Is(err, fs.ErrExist):
		// Over NFS a link may have been made although the answer was lost.
		if a, statErr := os.Stat(temp); statErr == nil {
			if b, statErr := os.Stat(path); statErr == nil && os.SameFile(a, b) {
				return fsys.Remove(temp)
			}
		}
		return err
	}
	// Without hard links, which file systems tell by many errors, an empty file reserves
	// the name; readers take it for a file without records. Any other fault comes again.
	if err := fsys.CreateExclusive(path); err != nil {
		return err
	}
	return fsys.Rename(temp, path)
}

// withTemp writes a temporary file beside path, makes its content last, lets
// publish name it, and makes the name last.
func withTemp(fsys FS, path string, write func(io.Writer) error, publish func(temp string) error) (err error) {
	l := lateFile{fsys: fsys, path: path}
	defer func() {
		f := l.file
		if f == nil {
			return
		}
		if err != nil {
			f.Close()
			_ = fsys.Remove(f.Name()) // it may have been renamed
		}
		tempfile.Done(f.Name())
	}()
	w := bufio.NewWriterSize(&l, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := l.begin(); err != nil {
		return err
	}
	f := l.file
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := publish(f.Name()); err != nil {
		return err
	}
	return fsys.SyncDir(filepath.Dir(path))
}

// muchWritten is from how many bytes on a file is no longer kept in memory.
const muchWritten = 16 << 20

// lateFile keeps what is written in memory until it is much or begin is called, and
// makes the temporary file then.
type lateFile struct {
	fsys FS
	path string
	kept []byte
	file File // nil at first
}

func (l *lateFile) Write(p []byte) (int, error) {
	if l.file == nil && len(l.kept)+len(p) <= muchWritten {
		l.kept = append(l.kept, p...)
		return len(p), nil
	}
	if err := l.begin(); err != nil {
		return 0, err
	}
	return l.file.Write(p)
}

func (l *lateFile) begin() (err error) {
	if l.file != nil {
		return nil
	}
	if l.file, err = l.fsys.CreateTemp(l.path); err != nil {
		l.file = nil // not an interface that holds nil
		return err
	}
	_, err = l.file.Write(l.kept)
	l.kept = nil
	return err
}

func named(path string, err error) error {
	if err != nil {
		err = fmt.Errorf("writing %s: %w", path, inputfile.Cause(err))
	}
	return err
}

// Full tells whether a disk has no more room.
func Full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// HostLacks tells whether this machine has no more open files, processes or memory for
// rlrun.
func HostLacks(err error) bool {
	return slices.ContainsFunc([]error{syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN, syscall.ENOMEM}, func(lack error) bool { return errors.Is(err, lack) })
}

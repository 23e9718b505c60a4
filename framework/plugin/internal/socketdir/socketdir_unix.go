//go:build unix

package socketdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/rlrun/rlrun/internal/lockfile"
)

// Make makes a directory and removes those that dead hosts have left behind. The
// caller removes it.
func Make() (Dir, error) {
	for {
		f, err := inBase()
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
		// Another host has removed the base, which was empty.
	}
}

// inBase makes a directory in the base, or elsewhere if there can be none.
func inBase() (Dir, error) {
	base, err := openBase()
	if err != nil {
		return fresh()
	}
	defer base.Close()
	removeStale(base)
	dir, err := os.MkdirTemp(base.Name(), "")
	if err != nil {
		return Dir{}, err
	}
	f, err := locked(dir)
	if err != nil {
		return Dir{}, err
	}
	return Dir{f.Path, func() {
		f.Remove()
		_ = unix.Rmdir(filepath.Dir(dir)) // if it is empty
	}}, nil
}

// fresh makes a directory outside any base.
func fresh() (Dir, error) {
	parent := os.TempDir()
	if len(parent) > maxBase {
		parent = "/tmp"
	}
	dir, err := os.MkdirTemp(parent, "rlrun-")
	if err != nil {
		return Dir{}, fmt.Errorf("no directory for a socket: %v", err)
	}
	return locked(dir)
}

// locked takes the lock of a new directory.
func locked(dir string) (Dir, error) {
	d, err := openDir(unix.AT_FDCWD, dir, dir)
	if err != nil {
		return Dir{}, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	held, err := lockfile.Take(filepath.Join(dir, lock))
	if err != nil {
		d.Close()
		_ = unix.Rmdir(dir)
		return Dir{}, err
	}
	return Dir{dir, func() {
		empty(d)
		_ = unix.Rmdir(dir)
		_ = held.Release()
		d.Close()
	}}, nil
}

// openBase opens this user's base, which it makes if there is none.
func openBase() (*os.File, error) {
	temporary := fmt.Sprintf("rlrun-%d", os.Geteuid())
	var errs error
	for _, base := range []string{
		filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "rlrun"),
		filepath.Join(os.TempDir(), temporary),
		filepath.Join("/tmp", temporary),
	} {
		d, err := privateDir(base)
		if err == nil {
			return d, nil
		}
		errs = errors.Join(errs, err)
	}
	return nil, errs
}

// privateDir opens a directory that it makes if there is none, and that this user
// alone can enter and replace.
func privateDir(path string) (*os.File, error) {
	refuse := func(format string, args ...any) (*os.File, error) {
		return nil, fmt.Errorf("%s: %s", path, fmt.Sprintf(format, args...))
	}
	if !filepath.IsAbs(path) || len(path) > maxBase {
		return refuse("not absolute, or longer than %d bytes", maxBase)
	}
	parent, err := unix.Open(filepath.Dir(path), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return refuse("%v", err)
	}
	defer unix.Close(parent)
	var s unix.Stat_t
	if err := unix.Fstat(parent, &s); err != nil {
		return refuse("%v", err)
	}
	if s.Uid != 0 && int(s.Uid) != os.Geteuid() || s.Mode&0o022 != 0 && s.Mode&unix.S_ISVTX == 0 {
		return refuse("others can replace it")
	}
	if err := unix.Mkdirat(parent, filepath.Base(path), 0o700); err != nil && err != unix.EEXIST {
		return refuse("%v", err)
	}
	d, err := openDir(parent, filepath.Base(path), path)
	if err != nil {
		return refuse("%v", err)
	}
	if err := unix.Fstat(int(d.Fd()), &s); err != nil || int(s.Uid) != os.Geteuid() || s.Mode&0o077 != 0 {
		d.Close()
		return refuse("owner %d, mode %o (%v)", s.Uid, s.Mode, err)
	}
	return d, nil
}

// openDir opens a directory in an open one, by name; errors call it path. It follows
// no link and never waits.
func openDir(parent int, name, path string) (*os.File, error) {
	fd, err := unix.Openat(parent, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// removeStale removes the directories of dead hosts.
func removeStale(base *os.File) {
	names, _ := base.Readdirnames(-1)
	for _, name := range names {
		d, err := openDir(int(base.Fd()), name, name)
		if err != nil {
			continue
		}
		if l := adopt(d); l != nil {
			empty(d)
			_ = unix.Unlinkat(int(base.Fd()), name, unix.AT_REMOVEDIR)
			l.Close()
		}
		d.Close()
	}
}

// adopt takes the lock that a dead host has left in a directory. It returns nil if
// there is none.
func adopt(d *os.File) *os.File {
	fd, err := unix.Openat(int(d.Fd()), lock, unix.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	l := os.NewFile(uintptr(fd), lock)
	if lockfile.Adopt(l) != nil {
		l.Close()
		return nil
	}
	return l
}

// empty removes from a locked directory the sockets, the files and directories with which
// go-plugin reserves their names, and the lock if nothing else is left.
func empty(d *os.File) {
	if emptyOfSockets(d, true) {
		_ = unix.Unlinkat(int(d.Fd()), lock, 0)
	}
}

// emptyOfSockets tells whether nothing is left in a directory but a lock.
func emptyOfSockets(d *os.File, nested bool) bool {
	names, err := d.Readdirnames(-1)
	if err != nil {
		return false
	}
	fd, all := int(d.Fd()), true
	for _, name := range names {
		var s unix.Stat_t
		if name == lock || unix.Fstatat(fd, name, &s, unix.AT_SYMLINK_NOFOLLOW) == unix.ENOENT {
			continue
		}
		err := error(unix.EEXIST)
		switch kind := s.Mode & unix.S_IFMT; {
		case kind == unix.S_IFSOCK, kind == unix.S_IFREG && (s.Size == 0 && strings.HasPrefix(name, Socket) || name == "lanes"):
			err = unix.Unlinkat(fd, name, 0)
		case kind == unix.S_IFDIR && nested && strings.HasPrefix(name, Socket):
			if sub, e := openDir(fd, name, name); e == nil {
				emptyOfSockets(sub, false)
				sub.Close()
				err = unix.Unlinkat(fd, name, unix.AT_REMOVEDIR)
			}
		}
		all = all && (err == nil || err == unix.ENOENT)
	}
	return all
}

//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package lockfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const noFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK

// errHeld means that another open file has the lock.
var errHeld error = unix.EWOULDBLOCK

// lock takes the lock on an open file, shared or alone. It does not wait.
func lock(f *os.File, shared bool) error {
	how := unix.LOCK_EX
	if shared {
		how = unix.LOCK_SH
	}
	for {
		switch err := flock(int(f.Fd()), how|unix.LOCK_NB); err {
		case unix.EINTR:
		case unix.ENOLCK: // NFS without a lock manager
			return errors.ErrUnsupported
		default:
			return err
		}
	}
}

// flock is the system call. A test replaces it by one of a file system without locks.
var flock = unix.Flock

// isLink tells whether an error of open means that a link has the file's name.
func isLink(err error) bool {
	return errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EMLINK) // FreeBSD
}

// links returns how many names a file has.
func links(info fs.FileInfo) uint64 {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 1
	}
	return uint64(s.Nlink)
}

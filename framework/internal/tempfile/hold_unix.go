//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package tempfile

import (
	"os"

	"golang.org/x/sys/unix"
)

const openFlags = unix.O_NOFOLLOW | unix.O_NONBLOCK

// hold takes the lock on an open file. The lock lasts until the file that it returns, and f,
// are closed. It does not wait.
func hold(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	lock := os.NewFile(uintptr(fd), f.Name())
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		lock.Close()
		return nil, err
	}
	return lock, nil
}

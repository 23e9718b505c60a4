//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package lockfile

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A file system without locks, whichever way it says so, does not stop rlrun.
func TestTakeWithoutLocks(t *testing.T) {
	defer func(real func(int, int) error) { flock = real }(flock)
	for _, answer := range []unix.Errno{unix.ENOLCK, unix.ENOSYS, unix.EOPNOTSUPP} {
		flock = func(int, int) error { return answer }
		l, err := Take(filepath.Join(t.TempDir(), "lock"))
		if err != nil {
			t.Errorf("%v: %v", answer, err)
			continue
		}
		if err := l.Release(); err != nil {
			t.Errorf("%v: %v", answer, err)
		}
	}
}

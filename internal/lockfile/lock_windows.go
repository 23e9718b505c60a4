package lockfile

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

const noFollow = 0

// errHeld means that another open file has the lock.
var errHeld error = windows.ERROR_LOCK_VIOLATION

// lock takes the lock on an open file, shared or alone. It does not wait. Windows does not let
// other processes read the bytes that are locked, so the lock is on one byte far
// behind the end.
func lock(f *os.File, shared bool) error {
	how := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if !shared {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	return windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &windows.Overlapped{Offset: 1 << 30})
}

func isLink(error) bool { return false }

func links(fs.FileInfo) uint64 { return 1 }

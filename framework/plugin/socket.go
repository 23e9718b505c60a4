package plugin

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rlrun/rlrun/framework/internal/lockfile"
)

// Names of folders that hold a socket. A folder gets its name when it is locked.
const (
	socketPrefix  = "rlrun-"
	nascentPrefix = ".rlrun-"
	socketLock    = "lock"
)

// socketFolder makes a folder that only this user can enter, with a path short
// enough for a socket's name, which has about 100 bytes. It is there until remove
// is called: while a plugin starts. What a host that was killed then has left
// behind is removed first.
func socketFolder() (dir string, remove func(), err error) {
	base := os.TempDir()
	if len(base) > 40 {
		base = "/tmp"
	}
	removeStale(base)
	nascent, err := os.MkdirTemp(base, nascentPrefix)
	if err != nil {
		return "", nil, err
	}
	lock, err := lockfile.Take(filepath.Join(nascent, socketLock))
	if err == nil {
		dir = filepath.Join(base, strings.TrimPrefix(filepath.Base(nascent), "."))
		err = os.Rename(nascent, dir)
	}
	if err != nil {
		os.RemoveAll(nascent)
		return "", nil, err
	}
	return dir, func() {
		os.RemoveAll(dir)
		_ = lock.Release()
	}, nil
}

// removeStale removes the folders of hosts that are no more: those whose lock
// nobody holds. Errors concern other users' folders, or what is being removed.
func removeStale(base string) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return
	}
	for _, e := range entries {
		dir := filepath.Join(base, e.Name())
		switch {
		case !e.IsDir():
		case strings.HasPrefix(e.Name(), nascentPrefix):
			if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > time.Minute {
				os.RemoveAll(dir)
			}
		case strings.HasPrefix(e.Name(), socketPrefix):
			if _, err := os.Stat(filepath.Join(dir, socketLock)); err != nil {
				continue // somebody else's
			}
			if lock, err := lockfile.Take(filepath.Join(dir, socketLock)); err == nil {
				os.RemoveAll(dir)
				_ = lock.Release()
			}
		}
	}
}

package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rlrun/rlrun/framework/internal/tempfile"
	"github.com/rlrun/rlrun/internal/lockfile"
)

// lockFile is there while somebody writes to an output directory.
const lockFile = ".rlrun.lock"

// Lock makes the output directory if it does not exist. Then it makes sure that
// no other process writes to it until release is called or the process ends. It
// removes temporary files that a process left there when it was killed. If
// another process holds the lock, the error wraps ErrInUse and names it. If the
// lock's name belongs to another file, or to a link, the error says so, and
// nothing is changed.
func Lock(dir string) (release func() error, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	lock, err := lockfile.Take(filepath.Join(dir, lockFile))
	var held *lockfile.HeldError
	if errors.As(err, &held) {
		return nil, fmt.Errorf("%s is %w by another rlrun (%s)",
			dir, ErrInUse, cmp.Or(held.Holder, "a shard, or one that is just starting"))
	}
	if err != nil {
		return nil, err
	}
	tempfile.RemoveLeft(dir)
	return lock.Release, nil
}

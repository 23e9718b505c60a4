//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package lockfile

import (
	"errors"
	"io/fs"
	"os"
)

const noFollow = 0

var errHeld = errors.New("held")

// lock fails: here, there are no locks of this kind.
func lock(*os.File, bool) error { return errors.ErrUnsupported }

func isLink(error) bool { return false }

func links(fs.FileInfo) uint64 { return 1 }

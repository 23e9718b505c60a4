//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package tempfile

import (
	"errors"
	"os"
)

const openFlags = 0

// hold fails: here a file cannot be renamed while it is open.
func hold(*os.File) (*os.File, error) { return nil, errors.ErrUnsupported }

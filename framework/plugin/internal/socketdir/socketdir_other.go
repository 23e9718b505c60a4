//go:build !unix

package socketdir

import "os"

// Make makes a directory. The caller removes it.
func Make() (Dir, error) {
	dir, err := os.MkdirTemp("", "rlrun-")
	return Dir{dir, func() { os.RemoveAll(dir) }}, err
}

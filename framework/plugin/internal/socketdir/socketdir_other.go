//go:build !unix

package socketdir

import "os"

// Make makes a folder. The caller removes it.
func Make() (Folder, error) {
	dir, err := os.MkdirTemp("", "rlrun-")
	return Folder{dir, func() { os.RemoveAll(dir) }}, err
}

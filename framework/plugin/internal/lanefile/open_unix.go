//go:build unix

package lanefile

import (
	"os"

	"golang.org/x/sys/unix"
)

// Open maps the file at a path into memory, for the life of the process.
func Open(path string) (*Words, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := unix.Mmap(int(f.Fd()), 0, words*wordSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, &os.PathError{Op: "mmap", Path: path, Err: err}
	}
	return &Words{data}, nil
}

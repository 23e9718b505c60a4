package cli

import (
	"bufio"
	"errors"
	"io"
	"os"

	"github.com/rlrun/rlrun/framework/result"
)

// WriteFile writes a file that a flag names. A regular file, or none, is replaced when all of
// it is written (result.WriteFile). A device or a pipe, such as /dev/null or what >(command)
// of a shell is, is written into.
func WriteFile(path string, write func(io.Writer) error) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().IsRegular() {
		return result.WriteFile(path, write)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	return errors.Join(write(w), w.Flush(), f.Close())
}

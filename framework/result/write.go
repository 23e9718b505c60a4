package result

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rlrun/rlrun/framework/internal/tempfile"
)

const runsDir = "runs"

// WriteRecords writes records to dir/runs/name.jsonl, making the folders if
// need be. The file appears whole or not at all, whatever stops the process, and
// replaces one of the same name.
func WriteRecords(dir, name string, recs []Record) error {
	if name == "" || strings.HasPrefix(name, ".") || name != filepath.Base(name) {
		return fmt.Errorf("bad name for a file of records: %q", name)
	}
	if err := os.MkdirAll(filepath.Join(dir, runsDir), 0o777); err != nil {
		return fmt.Errorf("making %s: %w", filepath.Join(dir, runsDir), cause(err))
	}
	return WriteFile(filepath.Join(dir, runsDir, name+".jsonl"), func(w io.Writer) error {
		var line []byte
		for i := range recs {
			line = append(recs[i].AppendJSON(line[:0]), '\n')
			if _, err := w.Write(line); err != nil {
				return err
			}
		}
		return nil
	})
}

// WriteFile writes a file so that its path holds either what it held before or
// all that write wrote: through a temporary file beside it, whose name begins
// with a dot and ends in .tmp, synced and then renamed. The writer is buffered.
func WriteFile(path string, write func(io.Writer) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing %s: %w", path, cause(err))
		}
	}()
	f, err := tempfile.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	w := bufio.NewWriterSize(f, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return publish(f.Name(), path)
}

// publish renames a finished temporary file to its path and makes the rename
// last through a power cut.
func publish(tmp, path string) error {
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer d.Close()
	// Some file systems cannot sync a folder; the rename has happened anyway.
	_ = d.Sync()
	return nil
}

// cause drops the name of a temporary file from an error of the os package.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return err
}

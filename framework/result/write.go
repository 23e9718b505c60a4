package result

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/rlrun/rlrun/framework/internal/disk"
	"github.com/rlrun/rlrun/framework/internal/tempfile"
	"github.com/rlrun/rlrun/internal/inputfile"
)

const (
	runsDir = "runs"
	runsExt = ".jsonl"
)

// WriteRecords writes records to dir/runs/name.jsonl, or to name.2.jsonl and so on
// where the name is taken, making the directories if need be. The file appears whole
// or not at all, whatever stops the process. It never replaces another one, also
// not one that another machine writes at the same time.
func WriteRecords(dir, name string, recs []Record) error {
	return WriteRecordsTo(disk.OS{}, dir, name, recs)
}

// WriteRecordsTo is WriteRecords on a given file system.
func WriteRecordsTo(fsys disk.FS, dir, name string, recs []Record) error {
	if name == "" || strings.HasPrefix(name, ".") || name != filepath.Base(name) {
		return fmt.Errorf("bad name for a file of records: %q", name)
	}
	directory := filepath.Join(dir, runsDir)
	if err := disk.MkdirAll(fsys, directory); err != nil {
		return fmt.Errorf("making %s: %w", directory, inputfile.Cause(err))
	}
	return disk.Publish(fsys, filepath.Join(directory, name+runsExt), func(w io.Writer) error {
		var line []byte
		for i := range recs {
			line = append(recs[i].appendLine(line[:0]), '\n')
			if _, err := w.Write(line); err != nil {
				return err
			}
		}
		return nil
	})
}

// WriteFile writes a file so that its path holds either the old content or all
// that write wrote. It writes a temporary file beside it, whose name begins
// with a dot and ends in .tmp, syncs it and then renames it. The writer is
// buffered.
func WriteFile(path string, write func(io.Writer) error) error {
	return disk.WriteFile(disk.OS{}, path, write)
}

// Abort removes the temporary files that this process is writing. It is for a process that
// is about to end: nothing can be written after it.
func Abort() { tempfile.End() }

package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rlrun/rlrun/framework/internal/tempfile"
)

// journals are the ends of the names of files that SQLite keeps beside a database while it
// changes it. It brings the database back to what such a file says, also one that was
// renamed to this name since; and an old SQLite removes a file that a journal names.
var journals = []string{"-journal", "-wal", "-shm"}

// ErrJournal says that a program was killed while it changed a database.
var ErrJournal = errors.New("a program was killed while it changed it: rlrun report makes it anew")

// CheckDatabase refuses a database that is not a regular file, or that has a journal.
func CheckDatabase(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return &fs.PathError{Op: "open", Path: path, Err: errors.New("is not a regular file")}
	}
	for _, end := range journals {
		if _, err := os.Lstat(path + end); err == nil {
			return ErrJournal
		}
	}
	return nil
}

// ReplaceDatabase puts what fill writes into an empty file in the place of the database at
// path. The journals of an earlier database go.
func ReplaceDatabase(path string, fill func(temporary string) error) (err error) {
	f, err := tempfile.Create(path)
	if err != nil {
		return err
	}
	tmp := f.Name()
	defer func() {
		if err != nil {
			os.Remove(tmp)
		}
		tempfile.Done(tmp)
	}()
	if err := f.Close(); err != nil {
		return err
	}
	if err := fill(tmp); err != nil {
		return err
	}
	if err := syncFile(tmp); err != nil {
		return err
	}
	for _, end := range journals {
		if _, err := os.Lstat(path + end); err != nil {
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // needs its journal
			return err
		}
		if err := os.Remove(path + end); err != nil {
			return err
		}
	}
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	return OS{}.SyncDir(filepath.Dir(path))
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

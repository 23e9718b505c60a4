//go:build unix

package cli

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

// A file that a flag names is replaced if it is a regular one, or none. A pipe is written into, and
// stays one, as a device would.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	write := func(w io.Writer) error { _, err := io.WriteString(w, "all of it"); return err }
	file := filepath.Join(dir, "file")
	must.Do(t, os.WriteFile(file, []byte("something longer than it"), 0o666))
	must.Do(t, WriteFile(file, write))
	if got := must.Get(os.ReadFile(file))(t); string(got) != "all of it" {
		t.Errorf("a regular file holds %q", got)
	}
	pipe := filepath.Join(dir, "pipe")
	must.Do(t, syscall.Mkfifo(pipe, 0o666))
	read := make(chan string)
	go func() { got, _ := os.ReadFile(pipe); read <- string(got) }()
	must.Do(t, WriteFile(pipe, write))
	if got := <-read; got != "all of it" {
		t.Errorf("the reader of a pipe got %q", got)
	}
	if info := must.Get(os.Lstat(pipe))(t); info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("a pipe became %v", info.Mode())
	}
	if WriteFile(dir, write) == nil {
		t.Error("a directory was written")
	}
}

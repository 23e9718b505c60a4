//go:build unix

package inputfile

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Nothing is read from what has no end or no writer.
func TestNotRegular(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]string{pipe: "a named pipe", "/dev/zero": "a device", "/dev/tty": ""} {
		if _, err := Read(path, MiB); err == nil || !strings.Contains(err.Error(), want) || want != "" && !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

package inputfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if _, err := Read(path, MiB); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	must.Do(t, os.WriteFile(path, bytes.Repeat([]byte("x"), MiB), 0o600))
	if data, err := Read(path, MiB); err != nil || len(data) != MiB {
		t.Errorf("a file of the largest size: %d bytes, error %v", len(data), err)
	}
	if _, err := Read(path, MiB-1); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a file that is too large: %v", err)
	}
	for size, want := range map[int64]string{2*MiB + 1: "2 MiB", GiB + 1: "1 GiB"} {
		large := filepath.Join(t.TempDir(), "large") // a hole, which takes no space
		must.Do(t, os.WriteFile(large, nil, 0o600))
		must.Do(t, os.Truncate(large, size))
		if _, err := Read(large, size-1); !errors.Is(err, ErrTooLarge) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%d bytes: %v, want %s", size, err, want)
		}
	}
	if f, err := Open(path, MiB-1); !errors.Is(err, ErrTooLarge) { // before it is read
		t.Errorf("a file that is too large is opened: %v", err)
		f.Close()
	}
	link := path + ".link"
	if err := os.Symlink(path, link); err == nil {
		if _, err := Read(link, MiB); err != nil {
			t.Errorf("a link to a file: %v", err)
		}
	}
	if _, err := Read(filepath.Dir(path), MiB); !errors.Is(err, ErrNotRegular) || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("a directory: %v", err)
	}
}

// A file that grows while it is read, and the standard input, end with an error.
func TestLimit(t *testing.T) {
	for _, tt := range []struct {
		size int
		want error
	}{{0, nil}, {9, nil}, {10, nil}, {11, ErrTooLarge}, {100, ErrTooLarge}} {
		data, err := io.ReadAll(Limit(strings.NewReader(strings.Repeat("x", tt.size)), 10))
		if !errors.Is(err, tt.want) || tt.want == nil && len(data) != tt.size {
			t.Errorf("%d bytes of at most 10: read %d, error %v", tt.size, len(data), err)
		}
	}
}

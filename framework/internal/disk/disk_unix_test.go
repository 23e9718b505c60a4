//go:build unix

package disk_test

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rlrun/rlrun/framework/internal/disk"
	"github.com/rlrun/rlrun/internal/must"
)

func hello(w io.Writer) error {
	_, err := io.WriteString(w, "hello")
	return err
}

// Files have the rights that the umask leaves, no more and no fewer.
func TestUmask(t *testing.T) {
	for mask, want := range map[int]fs.FileMode{0o077: 0o600, 0o002: 0o664} {
		old := syscall.Umask(mask)
		path := filepath.Join(t.TempDir(), "file")
		err := disk.WriteFile(disk.OS{}, path, hello)
		syscall.Umask(old)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("umask %03o: mode %v, want %v (%v)", mask, info.Mode(), want, err)
		}
	}
}

// linkless is a file system without hard links, which says so by errno.
type linkless struct {
	disk.OS
	errno syscall.Errno
}

func (l linkless) Link(from, to string) error {
	return &os.LinkError{Op: "link", Old: from, New: to, Err: l.errno}
}

// Without hard links a new file gets a free name as well, and replaces none.
func TestPublishWithoutLinks(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EPERM, syscall.EACCES, syscall.ENOSYS, syscall.EOPNOTSUPP, syscall.EMLINK, syscall.EXDEV} {
		dir := t.TempDir()
		for range 2 {
			must.Do(t, disk.Publish(linkless{errno: errno}, filepath.Join(dir, "a.jsonl"), hello))
		}
		for _, name := range []string{"a.jsonl", "a.2.jsonl"} {
			if data, err := os.ReadFile(filepath.Join(dir, name)); string(data) != "hello" {
				t.Errorf("%v: %s holds %q: %v", errno, name, data, err)
			}
		}
		if entries, err := os.ReadDir(dir); len(entries) != 2 {
			t.Errorf("%v: %d files: %v", errno, len(entries), err)
		}
	}
}

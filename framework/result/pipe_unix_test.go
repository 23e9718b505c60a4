//go:build unix

package result

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

// A named pipe or a device among the records is refused. Nothing opens it, which might take
// for ever.
func TestRecordsAreRegularFiles(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"pipe":           func(path string) error { return syscall.Mkfifo(path, 0o666) },
		"link to device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"directory":      func(path string) error { return os.Mkdir(path, 0o777) },
	} {
		dir := t.TempDir()
		must.Do(t, os.Mkdir(filepath.Join(dir, runsDir), 0o777))
		if err := make(filepath.Join(dir, runsDir, "e.a.0-1.jsonl")); err != nil {
			t.Skip(err)
		}
		_, all := OpenRuns(dir)
		_, shard := OpenShard(t.Context(), dir, 0, 1, func(Key) bool { return false })
		_, _, packed := Compact(t.Context(), Meta{Environments: []string{"e", "f"}, Agents: []string{"a", "b"}}, dir)
		_, _, followed := Follow(dir).Read(Meta{Steps: 1, Grid: []int{1}})
		for _, err := range []error{all, shard, packed, followed} {
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

package tempfile

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlrun/rlrun/internal/must"
)

// Only old files that Create made are removed, and none through a link.
func TestRemoveLeft(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	for _, sub := range []string{"runs", "notes"} {
		must.Do(t, os.Mkdir(filepath.Join(dir, sub), 0o777))
	}
	if err := os.Symlink(elsewhere, filepath.Join(dir, "plots")); err != nil {
		t.Skip(err)
	}
	old := time.Now().Add(-time.Hour)
	make := func(path string, at time.Time) string {
		f := must.Get(Create(path))(t)
		t.Cleanup(func() { Done(f.Name()) })
		f.Close()
		must.Do(t, os.Chtimes(f.Name(), at, at))
		return f.Name()
	}
	left := []string{make(filepath.Join(dir, "curves.csv"), old), make(filepath.Join(dir, "runs", "a.jsonl"), old)}
	kept := []string{make(filepath.Join(dir, "curves.csv"), time.Now()), make(filepath.Join(elsewhere, "a.png"), old)}
	digit := "0" // of the checksum, a wrong one
	if strings.HasSuffix(left[0], "0.tmp") {
		digit = "1"
	}
	forged := filepath.Base(left[0][:len(left[0])-5] + digit + ".tmp")
	for _, name := range []string{".thesis.tmp", ".a.jsonl.12.tmp", "runs/.a.jsonl.3456789012.tmp", "notes/.results.db.12.tmp", "curves.csv", forged, ".tmp"} {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte("mine"), 0o600))
		must.Do(t, os.Chtimes(path, old, old))
		kept = append(kept, path)
	}
	// A directory and a link of such a name.
	directory := make(filepath.Join(dir, "directory"), old)
	link := make(filepath.Join(dir, "link"), old)
	for _, err := range []error{os.Remove(directory), os.Mkdir(directory, 0o700), os.Chtimes(directory, old, old), os.Remove(link), os.Symlink(kept[1], link)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	kept = append(kept, directory, link)

	RemoveLeft(dir)
	for _, path := range slices.Concat(left, kept) {
		_, err := os.Lstat(path)
		if want := slices.Contains(kept, path); (err == nil) != want {
			t.Errorf("%s is there: %t, want %t", path, err == nil, want)
		}
	}
	RemoveLeft(filepath.Join(dir, "none"))
}

// A name is of Create's making or not, whatever the file is called.
func TestOurs(t *testing.T) {
	for _, base := range []string{"a", "runs.jsonl", "ä b.csv", ".hidden", "x.rlrun-0123456789abcdef-01234567.tmp", strings.Repeat("ä", 127)} {
		f := must.Get(Create(filepath.Join(t.TempDir(), base)))(t)
		f.Close()
		name := filepath.Base(f.Name())
		if !Ours(name) {
			t.Errorf("%s is not ours", name)
		}
		for _, other := range []string{"x" + name, "." + base + ".12.tmp", name + ".tmp", name[:len(name)-5] + ".tmp"} {
			if Ours(other) {
				t.Errorf("%s is ours", other)
			}
		}
	}
}

// A process that ends removes what it is writing, and begins nothing more.
func TestEnd(t *testing.T) {
	defer func() { open.ending = false }()
	f := must.Get(Create(filepath.Join(t.TempDir(), "results.db")))(t)
	defer Done(f.Name())
	defer f.Close()
	End()
	if _, err := os.Lstat(f.Name()); err == nil {
		t.Error("it is still there")
	}
	if _, err := Create(f.Name()); !errors.Is(err, ErrEnding) {
		t.Errorf("got %v", err)
	}
}

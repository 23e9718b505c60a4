package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rlrun/rlrun/framework/internal/tempfile"
	"github.com/rlrun/rlrun/internal/lockfile"
	"github.com/rlrun/rlrun/internal/must"
)

// One at a time, and what a killed process left half-written goes.
func TestLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	must.Do(t, os.MkdirAll(filepath.Join(dir, "runs"), 0o777))
	temporary := func(name string) string {
		f := must.Get(tempfile.Create(filepath.Join(dir, name)))(t)
		f.Close()
		return f.Name()
	}
	old, fresh := temporary("runs/a.jsonl"), temporary("curves.csv")
	record, strange := filepath.Join(dir, "runs", "a.jsonl"), filepath.Join(dir, ".thesis.tmp")
	for _, name := range []string{record, strange} {
		must.Do(t, os.WriteFile(name, nil, 0o600))
	}
	hourAgo := time.Now().Add(-time.Hour)
	for _, name := range []string{old, record, strange} {
		must.Do(t, os.Chtimes(name, hourAgo, hourAgo))
	}
	release := must.Get((Dir{Path: dir}).Claim())(t)
	if _, err := (Dir{Path: dir}).Claim(); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), "another rlrun (process ") {
		t.Errorf("a second lock: got %v", err)
	}
	must.Do(t, release())
	for name, want := range map[string]bool{old: false, fresh: true, record: true, strange: true, filepath.Join(dir, lockFile): false} {
		if _, err := os.Stat(name); (err == nil) != want {
			t.Errorf("%s is there: %t, want %t", name, err == nil, want)
		}
	}
}

// A lock's name that leads to somebody's file is refused, and the file is as it was.
func TestLockIsNotFollowed(t *testing.T) {
	dir := t.TempDir()
	thesis := filepath.Join(t.TempDir(), "thesis")
	must.Do(t, os.WriteFile(thesis, []byte("Chapter 1"), 0o600))
	if err := os.Symlink(thesis, filepath.Join(dir, lockFile)); err != nil {
		t.Skip(err)
	}
	if _, err := (Dir{Path: dir}).Claim(); !errors.Is(err, lockfile.ErrForeign) {
		t.Errorf("got %v", err)
	}
	if data, _ := os.ReadFile(thesis); string(data) != "Chapter 1" {
		t.Errorf("it holds %q", data)
	}
}

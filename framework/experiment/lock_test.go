package experiment

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// One at a time, and what a killed process left half-written goes.
func TestLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	if err := os.MkdirAll(filepath.Join(dir, "runs"), 0o777); err != nil {
		t.Fatal(err)
	}
	old, fresh, record := filepath.Join(dir, "runs", ".a.jsonl.12.tmp"), filepath.Join(dir, ".curves.csv.3.tmp"), filepath.Join(dir, "runs", "a.jsonl")
	for _, name := range []string{old, fresh, record} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hourAgo := time.Now().Add(-time.Hour)
	for _, name := range []string{old, record} {
		if err := os.Chtimes(name, hourAgo, hourAgo); err != nil {
			t.Fatal(err)
		}
	}
	release, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(dir); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), "another rlrun (process ") {
		t.Errorf("a second lock: got %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{old: false, fresh: true, record: true, filepath.Join(dir, lockFile): false} {
		if _, err := os.Stat(name); (err == nil) != want {
			t.Errorf("%s is there: %t, want %t", name, err == nil, want)
		}
	}
}

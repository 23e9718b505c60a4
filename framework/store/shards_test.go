package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rlrun/rlrun/internal/must"
)

// A shard in the middle of a long run has reported when its live file changed.
func TestShardsReportDuringRuns(t *testing.T) {
	dir := t.TempDir()
	flushed := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, text := range map[string]string{
		filepath.Join(shardsDir, "0-of-2.json"): `{"shard": 0, "of": 2, "updated": "2026-01-02T03:04:05Z"}`,
		filepath.Join(shardsDir, "1-of-2.json"): `{"shard": 1, "of": 2, "updated": "2026-01-02T03:04:05Z"}`,
		filepath.Join(liveDir, "1-of-2.json"):   `{}`,
	} {
		path := filepath.Join(dir, name)
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)))
	}
	lately := flushed.Add(time.Hour)
	must.Do(t, os.Chtimes(filepath.Join(dir, liveDir, "1-of-2.json"), lately, lately))
	shards, err := Dir{Path: dir}.Shards()
	if err != nil || len(shards) != 2 {
		t.Fatalf("%v, %v", shards, err)
	}
	if !shards[0].Updated.Equal(flushed) || !shards[1].Updated.Equal(lately) {
		t.Errorf("reported at %v and %v, want %v and %v", shards[0].Updated, shards[1].Updated, flushed, lately)
	}
}

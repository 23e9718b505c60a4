package disk

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

// A database takes the place of a former one and of its journals, which SQLite would bring
// into it.
func TestReplaceDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.db")
	fill := func(temporary string) error { return os.WriteFile(temporary, []byte("new"), 0o666) }
	must.Do(t, ReplaceDatabase(path, fill))
	for _, end := range journals {
		must.Do(t, os.WriteFile(path+end, []byte("old"), 0o666))
		if err := CheckDatabase(path); err != ErrJournal {
			t.Errorf("a database with %s: %v", end, err)
		}
		must.Do(t, ReplaceDatabase(path, fill))
		must.Do(t, CheckDatabase(path))
	}
	if files := must.Get(os.ReadDir(filepath.Dir(path)))(t); len(files) != 1 {
		t.Errorf("%d files are left", len(files))
	}
}

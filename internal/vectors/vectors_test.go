package vectors

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

func TestReadFindsTheModulesFile(t *testing.T) {
	t.Setenv(Variable, "")
	f := must.Get(Read())(t)
	if len(f.Cases["U"]) == 0 || len(f.MDPs) == 0 || f.Tolerances["U"] == "" {
		t.Fatal("the module's vectors lack cases, MDPs or tolerances")
	}
}

func TestVariableNamesAnotherFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.json")
	t.Setenv(Variable, path)
	if _, err := Read(); err == nil {
		t.Fatal("reading a missing file succeeded")
	}
	content := `{"which":"other","cases":{"sum":[{"name":"one","input":{"a":1},"expect":{"b":2}}]}}`
	must.Do(t, os.WriteFile(path, []byte(content), 0o600))
	f := must.Get(Read())(t)
	if f.Which != "other" {
		t.Errorf("read %q", f.Which)
	}
	ran := 0
	Run(t, f, "sum", func(t *testing.T, in struct{ A float64 }, want struct{ B float64 }) {
		ran++
		Close(t, "b", in.A+1, want.B, 0, 0)
	})
	if ran != 1 {
		t.Errorf("ran %d cases, want 1", ran)
	}
	must.Do(t, os.WriteFile(path, []byte("not json"), 0o600))
	if _, err := Read(); err == nil {
		t.Error("reading nonsense succeeded")
	}
}

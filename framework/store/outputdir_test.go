package store

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rlrun/rlrun/framework/internal/tempfile"
	"github.com/rlrun/rlrun/internal/must"
)

// A process that was killed before it wrote the config leaves programs and temporary files. They
// are no results: the directory is used again, whatever is asked. A file of somebody else is not.
func TestKilledBeforeTheConfig(t *testing.T) {
	d := Dir{Path: t.TempDir()}
	must.Do(t, os.Mkdir(d.path(programsDir), 0o777))
	must.Do(t, os.WriteFile(d.path(programsDir+"/a.pickle"), nil, 0o666))
	left := must.Get(tempfile.Create(d.path(ConfigFile)))(t)
	must.Do(t, left.Close())
	for _, existing := range []Existing{Refuse, Resume, Overwrite} {
		must.Do(t, d.Check(existing))
	}
	must.Do(t, os.WriteFile(filepath.Join(d.Path, "mine.tmp"), nil, 0o666))
	if d.Check(Overwrite) == nil {
		t.Error("a directory with a file of somebody else would be overwritten")
	}
}

// Names of plots are those of environments and metrics.
func TestIsPlot(t *testing.T) {
	for name, want := range map[string]bool{
		"all-regret": true, "gaussian-bandit-optimal_action": true, "bernoulli-bandit-16-arms-agent-loss": true,
		"gaussian-bandit": false, "gaussian-bandit-mine": false, "all-regret-mine": false, "another-regret": false,
	} {
		if got := isPlot(name, []string{"bernoulli-bandit, 16 arms", "gaussian-bandit"}); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

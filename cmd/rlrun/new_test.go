package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/rlrun/rlrun/internal/must"
)

// What rlrun plugin new writes builds, passes its tests and keeps every rule. The
// scripts are sessions of an author, with the true go, and with the Python that
// RLRUN_PYTHON names, which has the SDK and pytest.
func TestNewProjects(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a project of each language; make ci does it")
	}
	gotool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go to build with")
	}
	root := must.Get(filepath.Abs("../.."))(t)
	names := []string{"GOMODCACHE", "GOCACHE", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE"}
	values := must.Get(exec.Command(gotool, append([]string{"env"}, names...)...).Output())(t)
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/new",
		UpdateScripts: *update,
		Cmds:          map[string]func(*testscript.TestScript, bool, []string){"waitfor": waitFor},
		Condition:     func(name string) (bool, error) { return name == "python" && os.Getenv("RLRUN_PYTHON") != "", nil },
		Setup: func(e *testscript.Env) error {
			for i, v := range strings.Split(strings.TrimRight(string(values), "\n"), "\n") {
				e.Setenv(names[i], v)
			}
			e.Setenv("GOFLAGS", "-buildvcs=false")
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("ROOT", root)
			e.Setenv("PYTHON", os.Getenv("RLRUN_PYTHON"))
			e.Setenv("GORACE", "atexit_sleep_ms=0")
			return nil
		},
	})
}

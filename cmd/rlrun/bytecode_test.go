package main

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rlrun/rlrun/internal/must"
)

// Python runs the source whose digest is recorded, and not compiled code of the same size and
// time: neither what lies beside the source, as in a directory that somebody sent, nor what an
// earlier command compiled, where rsync -t or SOURCE_DATE_EPOCH set the time.
func TestCompiledPythonIsNotTrusted(t *testing.T) {
	python := cmp.Or(os.Getenv("RLRUN_PYTHON"), "python3")
	if exec.Command(python, "-c", "import rlrun.serve").Run() != nil {
		t.Skip("python3 with the package rlrun is not here (python/test.sh install makes one)")
	}
	t.Chdir(t.TempDir())
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	then := time.Unix(1_700_000_000, 0)
	helper := func(reward string) {
		must.Do(t, os.WriteFile("helper.py", []byte("REWARD = "+reward+"\n"), 0o600))
		must.Do(t, os.Chtimes("helper.py", then, then))
	}
	must.Do(t, os.WriteFile("maze.py", []byte(`
import rlrun
import helper

class Maze(rlrun.Environment):
    id = "test/maze@1"
    spec = rlrun.Spec(observation=rlrun.Discrete(1), action=rlrun.Discrete(2))

    def reset(self, seed):
        return 0

    def step(self, action):
        return rlrun.TimeStep(0, helper.REWARD)

rlrun.serve(Maze)
`), 0o600))
	must.Do(t, os.WriteFile("exp.yaml", []byte("runs: 1\nsteps: 2\nenvironments: [{name: maze, plugin: "+python+" maze.py}]\nagents: [{plugin: random}]\n"), 0o600))
	helper("0.75")
	compile := exec.Command(python, "-c", "import helper")
	compile.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=", "PYTHONPYCACHEPREFIX=")
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if compiled, err := filepath.Glob("__pycache__/helper.*.pyc"); len(compiled) != 1 || err != nil {
		t.Fatalf("compiled are %v (%v)", compiled, err)
	}
	for _, reward := range []string{"0.25", "0.50"} {
		helper(reward)
		var stderr bytes.Buffer
		if status := run(t.Context(), []string{"run", "exp.yaml", "--out", reward, "--quiet"}, nil, io.Discard, &stderr); status != 0 {
			t.Fatalf("%s", stderr.String())
		}
		names := must.Get(filepath.Glob(reward + "/runs/*.jsonl"))(t)
		records := string(must.Get(os.ReadFile(names[0]))(t))
		if want := `"reward":[` + strings.TrimRight(reward, "0"); !strings.Contains(records, want) {
			t.Errorf("the source has the reward %s, recorded is %s", reward, records)
		}
		if left := must.Get(os.ReadDir(temporary))(t); len(left) > 0 {
			t.Errorf("%v is left in the directory for temporary files", left)
		}
	}
}

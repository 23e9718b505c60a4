package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/rlrun/rlrun/cmd/rlrun/scaffold"
	"github.com/rlrun/rlrun/framework"
)

// What rlrun plugin new writes builds, passes its tests and keeps every rule. The
// scripts are sessions of an author, with the true go, and with the Python that
// RLRUN_PYTHON names, which has the SDK and pytest.
func TestNewProjects(t *testing.T) {
	gotool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go to build with")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"GOMODCACHE", "GOCACHE", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE"}
	values, err := exec.Command(gotool, append([]string{"env"}, names...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
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

func TestSource(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if version, dir, err := source("../.."); err != nil || version != "v0.0.0" || dir != root {
		t.Errorf("%s %s %v", version, dir, err)
	}
	for _, wrong := range []string{".", "../../nowhere", t.TempDir()} {
		if _, _, err := source(wrong); err == nil || !strings.Contains(err.Error(), "no checkout of rlrun") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

// A project whose dependencies cannot be found is written all the same, and the
// error says what is left to do.
func TestNewWithoutDependencies(t *testing.T) {
	for name, tt := range map[string]struct{ script, want string }{
		"no go":      {"", `"go": executable file not found`},
		"no network": {"#!/bin/sh\necho looking >&2\necho no route to host >&2\nexit 1\n", "go mod tidy: no route to host"},
	} {
		t.Run(name, func(t *testing.T) {
			bin := t.TempDir()
			if tt.script != "" {
				if err := os.WriteFile(filepath.Join(bin, "go"), []byte(tt.script), 0o777); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", bin)
			t.Chdir(t.TempDir())
			p := scaffold.Project{Name: "grid", Namespace: "me", Kind: framework.KindAgent, Language: scaffold.Go, Version: "v1.2.3"}
			_, err := create(t.Context(), p)
			if err == nil || !strings.Contains(err.Error(), "grid is written, but its dependencies could not be found; run go mod tidy in it: ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
			data, err := os.ReadFile("grid/go.mod")
			if err != nil || string(data) != "module rlrun-plugin-grid\n\ngo 1.26\n\nrequire github.com/rlrun/rlrun v1.2.3\n" {
				t.Errorf("go.mod is %q (%v)", data, err)
			}
		})
	}
}

package plugincmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/cmd/rlrun/scaffold"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

func TestSource(t *testing.T) {
	root := must.Get(filepath.Abs("../../../.."))(t)
	if version, dir, err := source("../../../.."); err != nil || version != "v0.0.0" || dir != root {
		t.Errorf("%s %s %v", version, dir, err)
	}
	for _, wrong := range []string{".", "../../nowhere", t.TempDir()} {
		if _, _, err := source(wrong); err == nil || !strings.Contains(err.Error(), "not a checkout of rlrun") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

// A project whose dependencies cannot be found is written all the same, and the
// error says what is left to do.
func TestNewWithoutDependencies(t *testing.T) {
	for name, tt := range map[string]struct{ script, want string }{
		"no go":      {"", "it needs Go 1.26 or newer, which is not in your path: get it from https://go.dev/dl/, then run go mod tidy in grid"},
		"no network": {"#!/bin/sh\necho looking >&2\necho no route to host >&2\nexit 1\n", "its dependencies could not be found; run go mod tidy in it: go mod tidy: no route to host"},
	} {
		t.Run(name, func(t *testing.T) {
			bin := t.TempDir()
			if tt.script != "" {
				must.Do(t, os.WriteFile(filepath.Join(bin, "go"), []byte(tt.script), 0o777))
			}
			t.Setenv("PATH", bin)
			t.Chdir(t.TempDir())
			p := scaffold.Project{Name: "grid", Namespace: "me", Kind: vector.KindAgent, Language: scaffold.Go, Version: "v1.2.3"}
			_, err := create(t.Context(), p)
			if err == nil || !strings.Contains(err.Error(), "grid is written, but it") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
			data, err := os.ReadFile("grid/go.mod")
			if err != nil || string(data) != "module rlrun-plugin-grid\n\ngo 1.26\n\nrequire github.com/rlrun/rlrun v1.2.3\n" {
				t.Errorf("go.mod is %q (%v)", data, err)
			}
		})
	}
}

// Tags and pseudo-versions name a commit. A version of changed files does not.
func TestPublished(t *testing.T) {
	for version, want := range map[string]bool{
		"v0.1.0": true, "v0.1.1-0.20261123221409-6d87875aa111": true, "v1.0.0-rc.1": true,
		"v0.1.0+dirty": false, "(devel)": false, "": false,
	} {
		if published(version) != want {
			t.Errorf("%q: %t", version, !want)
		}
	}
}

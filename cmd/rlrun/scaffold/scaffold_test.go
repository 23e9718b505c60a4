package scaffold

import (
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// Every project is complete: no template is left unfilled, and Go is formatted,
// whatever the name.
func TestWrite(t *testing.T) {
	for _, language := range []Language{Go, Python} {
		for _, kind := range []vector.Kind{vector.KindEnvironment, vector.KindAgent} {
			for _, name := range []string{"x", "import", "a-name-of-several-words", strings.Repeat("z", maxName)} {
				p := Project{Name: name, Namespace: "ns", Kind: kind, Language: language, Version: "v1.0.0", Replace: "/a directory/rlrun"}
				dir := filepath.Join(t.TempDir(), "p")
				files := must.Get(p.Write(dir))(t)
				if len(files) < 5 {
					t.Errorf("%s %s: only %v", language, kind, files)
				}
				for _, file := range files {
					data := must.Get(os.ReadFile(filepath.Join(dir, file)))(t)
					if strings.Contains(string(data), "{{") || strings.Contains(string(data), "<no value>") {
						t.Errorf("%s %s: %s has an unfilled template", language, kind, file)
					}
					if file == "README.md" && name == "x" {
						for line := range strings.Lines(string(data)) {
							if at := strings.Index(line, " # "); at >= 0 && at != 56 {
								t.Errorf("%s %s: comments do not stand below each other: %s", language, kind, line)
							}
						}
					}
					if strings.HasSuffix(file, ".go") {
						if formatted, err := format.Source(data); err != nil || string(formatted) != string(data) {
							t.Errorf("%s %s: %s is not gofmt-clean (%v)", language, kind, file, err)
						}
					}
				}
				if _, err := p.Write(dir); err == nil || !strings.Contains(err.Error(), "is there already") {
					t.Errorf("written twice: %v", err)
				}
			}
		}
	}
}

// Dirs with spaces are quoted as go.mod and pip want them.
func TestReplacePaths(t *testing.T) {
	p := Project{Replace: "/a directory/rlrun"}
	if got := p.GoReplace(); got != `"/a directory/rlrun"` {
		t.Errorf("go.mod gets %s", got)
	}
	if got := p.PythonURL(); got != "file:///a%20directory/rlrun/python" {
		t.Errorf("pip gets %s", got)
	}
	if got := (Project{Replace: "/src/rlrun"}).GoReplace(); got != "/src/rlrun" {
		t.Errorf("go.mod gets %s", got)
	}
}

// A Python project asks for the release that it was made by, or the one before a commit.
func TestPythonRequirement(t *testing.T) {
	for version, want := range map[string]string{
		"v0.3.1":                               "rlrun>=0.3.1",
		"v0.3.2-0.20261123221409-6d87875aa111": "rlrun>=0.3.1",
		"v0.0.0-20261123221409-6d87875aa111":   "rlrun",
		"v1.0.0-rc.1":                          "rlrun>=1.0.0.dev0",
	} {
		if got := (Project{Version: version}).PythonRequirement(); got != want {
			t.Errorf("%s: %s, want %s", version, got, want)
		}
	}
	if got := (Project{Version: "v0.0.0", Replace: "/src"}).PythonRequirement(); got != "rlrun @ file:///src/python" {
		t.Errorf("a checkout: %s", got)
	}
}

func TestValidate(t *testing.T) {
	good := Project{Name: "grid-2", Namespace: "me", Kind: vector.KindAgent, Language: Go}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"", "-a", "a-", "a--b", "Grid", "grid_world", "2d", "grid/world", "..", "gitter€", strings.Repeat("a", maxName+1)} {
		bad := good
		bad.Name = name
		if bad.Validate() == nil {
			t.Errorf("the name %q was accepted", name)
		}
		bad = good
		bad.Namespace = name
		if bad.Validate() == nil {
			t.Errorf("the namespace %q was accepted", name)
		}
	}
}

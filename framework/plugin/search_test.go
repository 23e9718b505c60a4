package plugin_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/internal/must"
)

// directory makes a directory with executables, and with a file that is none.
func directory(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755))
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "rlrun-plugin-text"), nil, 0o644))
	return dir
}

func TestResolve(t *testing.T) {
	first := directory(t, "rlrun-plugin-grid")
	second := directory(t, "rlrun-plugin-grid", "rlrun-plugin-maze", "rlrun-plugin-bernoulli-bandit", "other program")
	s := plugin.Search{Bundled: []string{"bernoulli-bandit"}, Dirs: []string{"/nowhere", first, second}, Python: "sh"}
	sh := "/bin/sh"
	spaced := filepath.Join(second, "other program")
	t.Setenv("PATH", "/bin")
	t.Chdir(directory(t, "search.py", "built"))
	for _, tt := range []struct {
		name      string
		reference string
		args      []string
		want      plugin.Found
		problem   string // part of the error; empty: none
	}{
		{"bundled wins", "bernoulli-bandit", nil, plugin.Found{Name: "bernoulli-bandit", Bundled: true}, ""},
		{"bundled with arguments", "bernoulli-bandit", []string{"-v"}, plugin.Found{}, "takes no arguments"},
		{"first directory wins", "grid", nil, plugin.Found{Name: "grid", Command: filepath.Join(first, "rlrun-plugin-grid")}, ""},
		{"the executable's name", "rlrun-plugin-maze", nil, plugin.Found{Name: "maze", Command: filepath.Join(second, "rlrun-plugin-maze")}, ""},
		{"with arguments", "maze", []string{"-v"}, plugin.Found{Name: "maze", Command: filepath.Join(second, "rlrun-plugin-maze"), Args: []string{"-v"}}, ""},
		{"path", second + "/rlrun-plugin-maze", nil, plugin.Found{Name: "maze", Command: filepath.Join(second, "rlrun-plugin-maze")}, ""},
		{"path with a space", spaced, nil, plugin.Found{Name: "other program", Command: spaced}, ""},
		{"command", "sh", []string{"x.sh", "--fast"}, plugin.Found{Name: "sh x.sh --fast", Command: sh, Args: []string{"x.sh", "--fast"}}, ""},
		{"command line", "sh x.sh", nil, plugin.Found{Name: "sh x.sh", Command: sh, Args: []string{"x.sh"}}, ""},
		{"Gymnasium", "gymnasium:ALE/Pong-v5", []string{"--x"}, plugin.Found{Name: "gymnasium:ALE/Pong-v5", Command: sh, Args: []string{"-c", "import sys; sys.path[:] = filter(None, sys.path); from rlrun.from_gymnasium import main; main()", "ALE/Pong-v5", "--x"}}, ""},
		{"a command alone is no plugin", "sh", nil, plugin.Found{}, `no plugin "sh"`},
		{"of an executable that is not there", "rlrun-plugin-mazes", nil, plugin.Found{}, "there is no executable rlrun-plugin-mazes in"},
		{"empty", " ", nil, plugin.Found{}, "no plugin"},
		{"missing path", "./nothing", nil, plugin.Found{}, "there is no file"},
		{"path of a directory", second + "/", nil, plugin.Found{}, "is a directory"},
		{"not executable", second + "/rlrun-plugin-text", nil, plugin.Found{}, "chmod +x"},
		{"misspelt", "bernouli-bandit", nil, plugin.Found{}, "did you mean bernoulli-bandit?"},
		{"part of a name", "bernoulli", nil, plugin.Found{}, "did you mean bernoulli-bandit?"},
		{"a script", "search.py", nil, plugin.Found{}, `search.py is a file here: name it as "python search.py"`},
		{"a program", "built", nil, plugin.Found{}, `built is a file here: name it as "./built"`},
		{"of the Python package", "deep-q", nil, plugin.Found{}, "pip install 'rlrun[deep]'"},
		{"an id of Gymnasium", "CartPole-v1", nil, plugin.Found{}, `named "gymnasium:CartPole-v1"`},
		{"unknown", "zzzzzz", nil, plugin.Found{}, "/nowhere, " + first},
		{"unknown: what is bundled", "zzzzzz", nil, plugin.Found{}, "bundled are bernoulli-bandit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := s.Resolve(tt.reference, tt.args...)
			if tt.problem != "" {
				if err == nil || !strings.Contains(err.Error(), tt.problem) || strings.Contains(err.Error(), "\n") {
					t.Fatalf("got %v, want one line with %q", err, tt.problem)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Fatalf("got %+v (%v), want %+v", got, err, tt.want)
			}
		})
	}
}

func TestList(t *testing.T) {
	first := directory(t, "rlrun-plugin-grid", "unrelated")
	second := directory(t, "rlrun-plugin-grid", "rlrun-plugin-a", "rlrun-plugin-bundled", "rlrun-plugin-")
	s := plugin.Search{Bundled: []string{"bundled"}, Dirs: []string{first, "/nowhere", second}}
	want := []plugin.Found{
		{Name: "bundled", Bundled: true},
		{Name: "a", Command: filepath.Join(second, "rlrun-plugin-a")},
		{Name: "grid", Command: filepath.Join(first, "rlrun-plugin-grid")},
	}
	if got := s.List(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestDefaultDirs(t *testing.T) {
	here := must.Get(os.Getwd())(t)
	for _, tt := range []struct {
		name string
		env  map[string]string
		want []string
	}{
		{"all", map[string]string{"RLRUN_PLUGIN_PATH": "/a:/b", "PATH": "/bin::/sbin"}, []string{"/a", "/b", "/bin", "/sbin"}},
		{"relative ones of the user's own", map[string]string{"RLRUN_PLUGIN_PATH": "bin", "PATH": "bin:/sbin"}, []string{filepath.Join(here, "bin"), "bin", "/sbin"}},
		{"nothing", nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := plugin.DefaultDirs(func(name string) string { return tt.env[name] })
			if len(got) != len(tt.want) || !reflect.DeepEqual(append([]string{}, got...), append([]string{}, tt.want...)) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestGymnasiumNeedsPython(t *testing.T) {
	t.Setenv("PATH", "/nowhere")
	for _, tt := range []struct{ python, want string }{{"", "no python3: install Python"}, {"/nowhere/python", "no /nowhere/python"}} {
		_, err := plugin.Search{Python: tt.python}.Resolve("gymnasium:CartPole-v1")
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "RLRUN_PYTHON") {
			t.Errorf("%q: got %v, want %q", tt.python, err, tt.want)
		}
	}
}

// A plugin in Python whose interpreter lacks a module: the error keeps what the process said.
func TestExplainModule(t *testing.T) {
	found := plugin.Found{Name: "python walk.py", Command: "/bin/python"}
	err := &plugin.Error{Plugin: "x", Err: plugin.ErrDied, Stderr: []string{"import numpy.linalg", "ModuleNotFoundError: No module named 'numpy.linalg'"}}
	got := found.Explain(err)
	if !errors.Is(got, err) || !strings.Contains(got.Error(), "\n/bin/python has no module numpy: ") {
		t.Errorf("got %v", got)
	}
}

// An interpreter without the package says so; the error says how to get it.
func TestExplain(t *testing.T) {
	said := func(line string) error {
		return &plugin.Error{Plugin: "x", Err: plugin.ErrDied, Stderr: []string{line}}
	}
	gym := plugin.Found{Name: "gymnasium:CartPole-v1", Command: "/bin/python"}
	for _, tt := range []struct {
		name  string
		found plugin.Found
		line  string
		want  string // empty: the error as it was
	}{
		{"no rlrun", gym, "/bin/python: Error while finding module specification for 'rlrun.from_gymnasium' (ModuleNotFoundError: No module named 'rlrun')", "/bin/python -m pip install './python[gymnasium]'"},
		{"no gymnasium", gym, "ModuleNotFoundError: No module named 'gymnasium'", "needs the Python package gymnasium"},
		{"no other package", gym, "ModuleNotFoundError: No module named 'gymnasium_robotics'", ""},
		{"another reason", gym, "out of memory", ""},
		{"another plugin", plugin.Found{Name: "grid"}, "out of memory", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := said(tt.line)
			got := tt.found.Explain(err)
			if tt.want == "" && got != err || tt.want != "" && (!strings.Contains(got.Error(), tt.want) || strings.Contains(got.Error(), "\n")) {
				t.Errorf("got %v", got)
			}
		})
	}
}

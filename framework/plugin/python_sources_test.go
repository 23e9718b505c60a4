package plugin_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/internal/must"
)

// A plugin in Python tells of the modules of its project and of packages, not of
// the standard library; a changed helper changes the answer.
func TestPythonSources(t *testing.T) {
	if testing.Short() {
		t.Skip("starts an interpreter for each change; make ci does it")
	}
	dir := t.TempDir()
	script, helper := filepath.Join(dir, "maze.py"), filepath.Join(dir, "helper.py")
	write := func(path, text string) {
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write(script, `
import rlrun
import helper

class Maze(rlrun.Environment):
    id = "test/maze@1"
    spec = rlrun.Spec(observation=rlrun.Discrete(1), action=rlrun.Discrete(2))

    def reset(self, seed):
        from area.rooms import cellar
        return cellar.START

    def step(self, action):
        return rlrun.TimeStep(0, helper.REWARD)

rlrun.serve(Maze)
`)
	write(helper, "REWARD = 1.0\n")
	if err := os.MkdirAll(filepath.Join(dir, "area", "rooms"), 0o700); err != nil { // packages without __init__.py
		t.Fatal(err)
	}
	cellar, door := filepath.Join(dir, "area", "rooms", "cellar.py"), filepath.Join(dir, "area", "door.py")
	write(cellar, "import json, importlib\ndef open():\n    return importlib.import_module('area.door')\nSTART = 0\n")
	write(door, "")
	sources := func() map[string]string {
		return must.Get(launchPython(t, plugin.LaunchConfig{Name: "maze"}, script).Sources(t.Context()))(t)
	}
	first := sources()
	for name, want := range map[string]string{"module helper": "sha256:", "module __main__": "sha256:", "package numpy": "",
		"module area.rooms.cellar": "sha256:", "module area.door": "sha256:"} {
		if value, ok := first[name]; !ok || !strings.HasPrefix(value, want) {
			t.Errorf("%s is %q, of %v", name, value, first)
		}
	}
	if _, ok := first["module json"]; ok {
		t.Error("the standard library is among the sources")
	}
	write(helper, "REWARD = 0.1\n")
	second := sources()
	if first["module helper"] == second["module helper"] || first["module __main__"] != second["module __main__"] {
		t.Errorf("before %v\nafter %v", first, second)
	}
	write(door, "CLOSED = True\n") // two modules away, and not imported before it is needed
	if third := sources(); third["module area.door"] == second["module area.door"] {
		t.Errorf("before %v\nafter %v", second, third)
	}

	var pins plugin.Pins
	pins.Pin(first, "maze")
	if err := pins.CheckFiles("l", nil, "maze"); err != nil {
		t.Error(err)
	}
	if err := pins.CheckProcess("l", first, "maze"); err != nil {
		t.Error(err)
	}
	if err := pins.CheckProcess("l", second, "maze"); err == nil || !strings.Contains(err.Error(), "module helper") {
		t.Errorf("a changed module: %v", err)
	}
}

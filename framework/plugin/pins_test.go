package plugin_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/internal/must"
)

// What was pinned passes until one of its files changes, comes or goes.
func TestPins(t *testing.T) {
	dir := directory(t, "rlrun-plugin-grid", "other program")
	t.Chdir(dir)
	write := func(name, text string) {
		must.Do(t, os.WriteFile(name, []byte(text), 0o755))
	}
	write("grid.py", "print(1)")
	s := plugin.Search{Dirs: []string{dir}}
	const lock = "rlrun.lock.yaml"
	if _, err := plugin.ReadPins(lock); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("no lock file: got %v", err)
	}
	var pins plugin.Pins
	script := []string{"grid.py", "--size", "3", "nothing.txt"}
	for _, p := range []struct {
		reference string
		args      []string
	}{{"grid", nil}, {"sh", script}, {filepath.Join(dir, "other program"), nil}} {
		found := must.Get(s.Resolve(p.reference, p.args...))(t)
		pins.Pin(must.Get(found.Digests())(t), p.reference, p.args...)
	}
	var text bytes.Buffer
	must.Do(t, pins.Encode(&text))
	write(lock, text.String())
	read, err := plugin.ReadPins(lock)
	if err != nil || !reflect.DeepEqual(*read, pins) {
		t.Fatalf("got %v (%v), want %v", read, err, pins)
	}
	// sha256sum of "#!/bin/sh\n" and of "print(1)"
	const (
		shebang = "sha256:a8076d3d28d21e02012b20eaf7dbf75409a6277134439025f282e368e3305abf"
		one     = "sha256:d287bb7f9d15abdc5b6e98536263815744b6ef21c8f3c839fc434ca70d8efe99"
	)
	if got := read.Plugins["grid"]["rlrun-plugin-grid"]; got != shebang {
		t.Errorf("got %s, want %s", got, shebang)
	}
	if got := read.Plugins["sh grid.py --size 3 nothing.txt"]; len(got) != 2 || got["grid.py"] != one {
		t.Errorf("got %v, want the interpreter and grid.py %s", got, one)
	}

	check := func(reference string, args ...string) error {
		t.Helper()
		found := must.Get(s.Resolve(reference, args...))(t)
		return read.CheckFiles(lock, must.Get(found.Digests())(t), reference, args...)
	}
	good := func(when string) {
		t.Helper()
		for _, err := range []error{
			check("grid"), check("sh", script...), check("sh grid.py  --size 3 nothing.txt"), check("sh grid.py", script[1:]...),
			check(filepath.Join(dir, "other program")),
		} {
			if err != nil {
				t.Errorf("%s: %v", when, err)
			}
		}
	}
	bad := func(when, want string, err error) {
		t.Helper()
		if !errors.Is(err, plugin.ErrNotPinned) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want one line with %q", when, err, want)
		}
	}
	good("at first")
	bad("with another argument", "does not have it; add it with rlrun plugin lock 'grid --fast'", check("grid", "--fast"))
	write("grid.py", "print(2)")
	bad("another script", "the digest of grid.py is sha256:fc92339e2c864d8fc1782834ede5e96beb34e096745cdb559c3a8bb67fbfae7c, in rlrun.lock.yaml it is "+one, check("sh", script...))
	write("grid.py", "print(1)")
	write("nothing.txt", "")
	bad("a new file", "the digest of nothing.txt is sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855, in rlrun.lock.yaml it is none", check("sh", script...))
	must.Do(t, errors.Join(os.Remove("nothing.txt"), os.Remove("grid.py")))
	bad("a lost file", "rlrun.lock.yaml has a file grid.py, which is not there", check("sh", script...))
	write("grid.py", "print(1)")
	good("at last")
	write("rlrun-plugin-grid", "#!/bin/bash\n")
	bad("another program", "plugin grid is not as locked: the digest of rlrun-plugin-grid is ", check("grid"))
}

// What a plugin says of its machine is in provenance, and not in a lock file, which is for any machine.
func TestFactsAreNotPinned(t *testing.T) {
	var pins plugin.Pins
	pins.Pin(map[string]string{"package jax": "0.10.2", "fact device": "cpu"}, "net")
	if got := pins.Plugins["net"]; len(got) != 1 || got["package jax"] == "" {
		t.Errorf("got %v, want the package alone", got)
	}
	for jax, want := range map[string]error{"0.10.2": nil, "0.10.3": plugin.ErrNotPinned} {
		now := map[string]string{"package jax": jax, "fact device": "NVIDIA H100"}
		if err := pins.CheckProcess("lock", now, "net"); !errors.Is(err, want) {
			t.Errorf("jax %s on a GPU: got %v, want %v", jax, err, want)
		}
		if err := pins.CheckSources("lock", now, "net"); !errors.Is(err, want) {
			t.Errorf("jax %s loaded on a GPU: got %v, want %v", jax, err, want)
		}
	}
}

func TestBadLockFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rlrun.lock.yaml")
	for text, want := range map[string]string{
		"":                                     "is no lock file",
		"version: 2\n":                         "has version 2, this rlrun reads version 1",
		"plugins: {}\n":                        "has version 0",
		"version: 1\nplugin: {}\n":             "field plugin not found;",
		"version: 1\nplugins: [a]\n":           "is no lock file",
		"version: 1\nplugins: {a: {b: [1]}}\n": "is no lock file",
		"version: 1\nplugins: {}\n---\na: b\n": "something follows its end",
	} {
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		if _, err := plugin.ReadPins(path); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: got %v, want one line with %q", text, err, want)
		}
	}
}

// A script that pip wrote has the same digests in every virtual environment. Its text and
// its interpreter count.
func TestPinsOfVirtualEnvironments(t *testing.T) {
	digests := func(interpreter, body string) map[string]string {
		t.Helper()
		bin := filepath.Join(t.TempDir(), "bin")
		must.Do(t, os.Mkdir(bin, 0o755))
		script := filepath.Join(bin, "rlrun-plugin-maze")
		for path, text := range map[string]string{
			filepath.Join(bin, "..", "pyvenv.cfg"): "",
			filepath.Join(bin, "python3"):          interpreter,
			script:                                 "#!" + bin + "/python3 -E\n" + body,
		} {
			must.Do(t, os.WriteFile(path, []byte(text), 0o755))
		}
		found := must.Get(plugin.Search{}.Resolve(script))(t)
		return must.Get(found.Digests())(t)
	}
	here := digests("CPython", "import maze")
	if len(here) != 2 || here["python3"] == "" {
		t.Errorf("got %v, want the script and its interpreter", here)
	}
	if there := digests("CPython", "import maze"); !reflect.DeepEqual(here, there) {
		t.Errorf("in another directory: got %v, want %v", there, here)
	}
	if other := digests("CPython", "import mine"); other["rlrun-plugin-maze"] == here["rlrun-plugin-maze"] {
		t.Error("another script has the same digest")
	}
	if other := digests("PyPy", "import maze"); other["python3"] == here["python3"] {
		t.Error("another interpreter has the same digest")
	}
}

package plugin

import (
	"bytes"
	"maps"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

// A lock file, and what a plugin says that it requires, are read or refused in one line. A lock
// file that was read is the same after it is written.
func FuzzLockFile(f *testing.F) {
	pins := &Pins{}
	pins.Pin(map[string]string{"bin/maze": "sha256:00ff", "module maze": "sha256:11", "process python3": "sha256:22"}, "bin/maze", "--size", "3")
	var text bytes.Buffer
	must.Do(f, pins.Encode(&text))
	f.Add(text.Bytes(), "rlrun >= 0.2.0")
	f.Add([]byte("version: 2\nplugins: {}\n"), "rlrun>=1")
	f.Add([]byte("0"), "rlrun>=\n2")
	f.Add([]byte("version: 1\nplugins: {a: &a {b: sha256:00}, c: *a}\n"), "rlrun >= 0.0.99999999999999999999")
	f.Add([]byte("version: 1\nplugins: {a: {b: [c]}}\nmore: 1"), "rlrun >= 0.2.0 \n")
	f.Add([]byte("version: 1\nplugins: {a: null, \"b\\n\": {\"\": \"\"}}"), "python >= 3")
	f.Fuzz(func(t *testing.T, data []byte, required string) {
		oneLine := func(err error) {
			if err != nil && (err.Error() == "" || strings.Contains(err.Error(), "\n")) {
				t.Fatalf("an error of no line or several: %q", err)
			}
		}
		oneLine(checkRequires(required, "0.1.0"))
		p, err := parsePins("rlrun.lock.yaml", data)
		oneLine(err)
		if err != nil {
			return
		}
		for name, digests := range p.Plugins {
			_ = p.check("rlrun.lock.yaml", map[string]string{"bin/maze": "sha256:00"}, true, name, nil)
			for file := range digests {
				changed := maps.Clone(digests)
				changed[file] += "0"
				if p.check("rlrun.lock.yaml", changed, true, name, nil) == nil {
					t.Fatalf("%q of %q may change", file, name)
				}
			}
		}
		var text, second bytes.Buffer
		must.Do(t, p.Encode(&text))
		again, err := parsePins("rlrun.lock.yaml", text.Bytes())
		must.Do(t, err)
		must.Do(t, again.Encode(&second))
		if !bytes.Equal(text.Bytes(), second.Bytes()) {
			t.Fatalf("%s became %s", text.Bytes(), second.Bytes())
		}
	})
}

package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

// Every test that isolation.md names is there.
func TestPromisesHaveTests(t *testing.T) {
	text := must.Get(os.ReadFile("isolation.md"))(t)
	test := regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w*|test_\\w+)(?:/(\\w+))?`")
	rows, inside := 0, false
	for line := range strings.SplitSeq(string(text), "\n") {
		switch {
		case strings.HasPrefix(line, "| promise"):
			inside = true
		case !strings.HasPrefix(line, "| "):
			inside = inside && strings.HasPrefix(line, "|--")
		case inside:
			if rows++; !test.MatchString(line) {
				t.Errorf("no test keeps this promise: %s", line)
			}
		}
	}
	if rows < 30 {
		t.Fatalf("isolation.md makes %d promises", rows)
	}
	named := map[string]bool{}
	for _, m := range test.FindAllStringSubmatch(string(text), -1) {
		named[m[1]] = true
		if script := m[2]; script != "" {
			if _, err := os.Stat(filepath.Join("..", "cmd", "rlrun", "testdata", "script", script+".txtar")); err != nil {
				t.Errorf("isolation.md names %s: %v", m[0], err)
			}
		}
	}
	function := regexp.MustCompile(`(?m)^\s*(?:func|def) ((?:Test|Fuzz|test_)\w*)\(`)
	must.Do(t, filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && path != ".." && (strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if name := e.Name(); e.IsDir() || !strings.HasSuffix(name, "_test.go") && !(strings.HasPrefix(name, "test_") && strings.HasSuffix(name, ".py")) {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range function.FindAllSubmatch(source, -1) {
			delete(named, string(m[1]))
		}
		return nil
	}))
	for name := range named {
		t.Errorf("isolation.md names %s, which is no test", name)
	}
}

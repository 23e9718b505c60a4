package licensescmd

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

var update = flag.Bool("update", false, "write notices.txt anew")

// texts finds the files of a module that its users must pass on. freetype has ftl.txt, and the
// GPL for those who choose that.
var texts = regexp.MustCompile(`(?i)^(licen[cs]e(-[a-z0-9]+)*|copying|notice|patents|ftl)(\.(txt|md))?$`)

// linked returns the directories of what a release is linked with on any of its platforms,
// those of packages and all above them in their module, by the module's path and version.
func linked(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for _, platform := range []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64"} {
		system, processor, _ := strings.Cut(platform, "/")
		cmd := exec.Command("go", "list", "-deps", "-json=Dir,Module", "github.com/rlrun/rlrun/cmd/rlrun")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor)
		out := must.Get(cmd.Output())(t)
		for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
			var p struct {
				Dir    string
				Module *struct {
					Path, Version, Dir string
					Main               bool
				}
			}
			if err := dec.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			m := p.Module
			if m == nil || m.Main {
				continue
			}
			for name, dir := m.Path+" "+m.Version, p.Dir; ; dir = filepath.Dir(dir) {
				if !slices.Contains(found[name], dir) {
					found[name] = append(found[name], dir, filepath.Join(dir, "licenses"))
				}
				if dir == m.Dir {
					break
				}
			}
		}
	}
	found["Go's standard library"] = []string{strings.TrimSpace(string(must.Get(exec.Command("go", "env", "GOROOT").Output())(t)))}
	return found
}

// Every module that a release is linked with has its notices in notices.txt, word for word,
// and so have the libraries of the report page.
func TestNotices(t *testing.T) {
	if testing.Short() && !*update {
		t.Skip("it lists the packages of five platforms")
	}
	owners := map[string][]string{} // by text
	add := func(owner string, data []byte) {
		text := strings.TrimSpace(strings.ReplaceAll(string(data), "\r\n", "\n"))
		if !slices.Contains(owners[text], owner) {
			owners[text] = append(owners[text], owner)
		}
	}
	for module, dirs := range linked(t) {
		has := false
		for _, dir := range dirs {
			files, _ := os.ReadDir(dir) // few have licenses
			for _, f := range files {
				if texts.MatchString(f.Name()) && !f.IsDir() {
					add(module, must.Get(os.ReadFile(filepath.Join(dir, f.Name())))(t))
					has = true
				}
			}
		}
		if !has {
			t.Errorf("%s has no file with its licence in %s", module, dirs[0])
		}
	}
	for library, file := range map[string]string{"d3 (JavaScript)": "d3-LICENSE", "Observable Plot (JavaScript)": "plot-LICENSE"} {
		add(library, must.Get(os.ReadFile(filepath.Join("..", "..", "..", "..", "framework", "output", "page", "assets", file)))(t))
	}
	var b strings.Builder
	b.WriteString("rlrun contains the following modules and libraries, under these licences.\n")
	for _, text := range slices.SortedFunc(maps.Keys(owners), func(a, b string) int {
		return cmp.Or(slices.Compare(sorted(owners[a]), sorted(owners[b])), strings.Compare(a, b))
	}) {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(sorted(owners[text]), "\n"), text)
	}
	if *update {
		must.Do(t, os.WriteFile("notices.txt", []byte(b.String()), 0o666))
	} else if b.String() != notices {
		t.Error("notices.txt is not what the linked modules say: go test ./cmd/rlrun/internal/licensescmd -update writes it")
	}
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

// Package rlrun_test holds what is true of the module as a whole.
package rlrun_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

const module = "github.com/rlrun/rlrun/"

// list asks for the imports once, for all tests.
var list = sync.OnceValues(func() ([]byte, error) {
	return exec.Command("go", "list", "-e", "-json=ImportPath,Imports,TestImports,XTestImports", "./...").Output()
})

// load returns the imports of every package of the module, by path without the
// module's. With tests it includes the imports of its tests.
func load(t *testing.T, tests bool) map[string][]string {
	t.Helper()
	out, err := list()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := map[string][]string{}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p struct {
			ImportPath                         string
			Imports, TestImports, XTestImports []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		imports := p.Imports
		if tests {
			imports = slices.Concat(imports, p.TestImports, p.XTestImports)
		}
		packages[strings.TrimPrefix(p.ImportPath, module)] = imports
	}
}

// within tells whether a path is one of the directories or inside one.
func within(path string, directories ...string) bool {
	return slices.ContainsFunc(directories, func(f string) bool { return path == f || strings.HasPrefix(path, f+"/") })
}

// Imports point down the list of docs/architecture.md.
func TestImportsPointDown(t *testing.T) {
	may := []struct {
		directory string
		own       []string // directories of the module that it may import besides itself
	}{
		{"bandit", []string{"internal"}},
		{"mdp", []string{"internal"}},
		{"options", []string{"bandit", "mdp", "internal"}},
		{"internal", nil},
		{"framework", []string{"options", "bandit", "mdp", "internal"}},
		{"plugins", []string{"framework", "options", "bandit", "mdp", "internal"}},
		{"examples", []string{"framework", "options", "bandit", "mdp"}},
		{"cmd", []string{"plugins", "framework", "options", "bandit", "mdp", "internal"}},
	}
	packages := load(t, false)
	for _, rule := range may {
		for path, imports := range packages {
			if !within(path, rule.directory) {
				continue
			}
			for _, i := range imports {
				if own, ok := strings.CutPrefix(i, module); ok && !within(own, append(rule.own, rule.directory)...) {
					t.Errorf("%s imports %s", path, own)
				}
			}
		}
	}
}

// docs/architecture.md also says which packages of framework import each other.
func TestImportsWithinFramework(t *testing.T) {
	contract := []string{"framework", "framework/vector", "framework/space", "framework/seed"}
	may := map[string][]string{
		"space":    nil,
		"seed":     nil,
		"metric":   nil,
		"stat":     nil,
		"params":   {"framework"},
		"vector":   contract,
		"plugin":   append([]string{"framework/params"}, contract...),
		"result":   {"framework/metric", "framework/stat", "framework/seed"},
		"loop":     append([]string{"framework/metric", "framework/result"}, contract...),
		"explore":  append([]string{"framework/result"}, contract...),
		"rltest":   append([]string{"framework/stat", "framework/metric"}, contract...),
		"compare":  {"framework/metric", "framework/result", "framework/stat", "framework/seed"},
		"plan":     {"framework/loop", "framework/explore", "framework/metric", "framework/result", "framework/compare"},
		"store":    {"framework", "framework/space", "framework/seed", "framework/plan", "framework/loop", "framework/metric", "framework/result", "framework/compare"},
		"run":      append([]string{"framework/plan", "framework/store", "framework/loop", "framework/explore", "framework/metric", "framework/result", "framework/compare"}, contract...),
		"output":   {"framework/plan", "framework/store", "framework/metric", "framework/result", "framework/compare", "framework/stat"},
		"internal": append([]string{"framework/plan", "framework/result"}, contract...),
	}
	for path, imports := range load(t, false) {
		rest, ok := strings.CutPrefix(path, "framework/")
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(rest, "/")
		list, known := may[name]
		if !known {
			t.Errorf("%s has no place in docs/architecture.md", path)
		}
		for _, i := range imports {
			own, ok := strings.CutPrefix(i, module)
			if ok && within(own, "framework") && !within(own, "framework/internal", "framework/"+name) && !slices.Contains(list, own) {
				t.Errorf("%s imports %s", path, own)
			}
		}
	}
}

// Packages of test code are imported by tests and by each other alone, so no program has them.
func TestHelpersServeTestsAlone(t *testing.T) {
	helpers := []string{"internal/must", "internal/vectors", "framework/internal/actortest", "framework/internal/optiontest", "framework/internal/plantest",
		"framework/output/outputtest", "plugins/internal/agenttest", "plugins/plugintest"}
	packages := load(t, false)
	for _, helper := range helpers {
		if _, ok := packages[helper]; !ok {
			t.Errorf("there is no package %s", helper)
		}
	}
	for path, imports := range packages {
		for _, i := range imports {
			if own, ok := strings.CutPrefix(i, module); ok && slices.Contains(helpers, own) && !slices.Contains(helpers, path) {
				t.Errorf("%s imports %s, which is for tests", path, own)
			}
		}
	}
}

// The contract itself knows only spaces, random streams, models and decisions between
// options.
func TestFrameworkImports(t *testing.T) {
	for _, i := range load(t, false)["framework"] {
		if own, ok := strings.CutPrefix(i, module); ok && own != "framework/space" && own != "framework/seed" && own != "mdp" && own != "options" {
			t.Errorf("framework imports %s", own)
		}
	}
}

// The mathematics is the standard library's and gonum's; only its tests know more.
func TestMathematicsImports(t *testing.T) {
	for path, imports := range load(t, false) {
		if !within(path, "bandit", "mdp", "options", "framework/stat") || within(path, "bandit/bandittest") {
			continue
		}
		for _, i := range imports {
			first, _, _ := strings.Cut(i, "/")
			if strings.Contains(first, ".") && !strings.HasPrefix(i, module) && !strings.HasPrefix(i, "gonum.org/v1/gonum/") {
				t.Errorf("%s imports %s", path, i)
			}
		}
	}
}

// Some libraries belong to one place.
func TestLibrariesInTheirPlace(t *testing.T) {
	places := map[string][]string{
		"github.com/spf13/cobra":                  {"cmd/rlrun"},
		"github.com/spf13/viper":                  {"cmd/rlrun"},
		"github.com/spf13/pflag":                  {"cmd/rlrun"},
		"github.com/hashicorp/go-plugin":          {"framework/plugin", "cmd"},
		"github.com/hashicorp/go-hclog":           {"framework/plugin", "cmd"},
		"google.golang.org/grpc":                  {"framework/plugin"},
		"google.golang.org/protobuf":              {"framework/plugin"},
		"github.com/rlrun/rlrun/plugins":          {"plugins", "cmd"},
		"github.com/rlrun/rlrun/internal/vectors": {"internal"},
	}
	for path, imports := range load(t, false) {
		for _, i := range imports {
			for library, allowed := range places {
				if within(i, library) && !within(path, allowed...) {
					t.Errorf("%s imports %s, which is for %s", path, i, strings.Join(allowed, " and "))
				}
			}
		}
	}
	for path, imports := range load(t, true) {
		if within(path, "framework") && slices.ContainsFunc(imports, func(i string) bool { return within(i, module+"plugins") }) {
			t.Errorf("a test in %s imports plugins", path)
		}
	}
}

// Every package that a program may import shows how in a runnable Example. The others
// that are not internal are the program, its plugins, and what only experiments need.
func TestExamples(t *testing.T) {
	without := []string{"bandit/bandittest", "cmd", "docs", "examples", "framework/explore", "framework/output", "plugins"}
	for path := range load(t, false) {
		if within(path, without...) || strings.Contains(path+"/", "internal/") || path+"/" == module {
			continue
		}
		files := must.Get(filepath.Glob(filepath.Join(path, "*_test.go")))(t)
		if !slices.ContainsFunc(files, func(name string) bool {
			src, err := os.ReadFile(name)
			return err == nil && strings.Contains(string(src), "\nfunc Example")
		}) {
			t.Errorf("%s has no Example", path)
		}
	}
}

// A plan is a value: it reads no file, keeps no cache and starts nothing.
func TestPlanIsAValue(t *testing.T) {
	for _, i := range load(t, false)["framework/plan"] {
		if slices.Contains([]string{"os", "io/fs", "path/filepath", "sync", "context", "time", "net/http", "os/exec"}, i) || within(i, module+"framework/internal", module+"internal") && !slices.Contains([]string{module + "internal/spelling", module + "internal/whole", module + "framework/internal/brief"}, i) {
			t.Errorf("framework/plan imports %s", i)
		}
	}
}

// Authors of environments and agents learn at most 21 names: the types and functions of
// package framework, besides the errors and the values of its enumerations.
func TestFewNamesForAuthors(t *testing.T) {
	files := must.Get(filepath.Glob("framework/*.go"))(t)
	var names []string
	add := func(name *ast.Ident) {
		if name.IsExported() {
			names = append(names, name.Name)
		}
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed := must.Get(parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution))(t)
		for _, d := range parsed.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					add(d.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if s, ok := spec.(*ast.TypeSpec); ok {
						add(s.Name)
					}
				}
			}
		}
	}
	if len(names) == 0 || len(names) > 21 {
		t.Errorf("%d names: %v", len(names), names)
	}
}

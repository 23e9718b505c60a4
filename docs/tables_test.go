package docs_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/bandit/policy"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/options"
	"github.com/rlrun/rlrun/plugins"
)

var codeWord = regexp.MustCompile("`([^`]+)`")

// table is tableOf of the guide.
func table(t *testing.T, title string) (rows [][]string, names []string) {
	t.Helper()
	return tableOf(t, "experiments.md", title)
}

// tableOf returns the cells of the table under a heading of a document, without
// its head, and the names in code in the first cell of each row.
func tableOf(t *testing.T, document, title string) (rows [][]string, names []string) {
	t.Helper()
	_, section, ok := strings.Cut(read(t, document), "\n## "+title+"\n")
	if !ok {
		t.Fatalf("%s has no section %s", document, title)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	inside := false
	for line := range strings.Lines(section) {
		switch {
		case strings.HasPrefix(line, "|---"):
			inside = true
		case !strings.HasPrefix(line, "|"):
			inside = false
		case inside:
			cells := strings.Split(strings.Trim(line, "|\n"), "|")
			rows = append(rows, cells)
			for _, m := range codeWord.FindAllStringSubmatch(cells[0], -1) {
				names = append(names, m[1])
			}
		}
	}
	return rows, names
}

// same fails if one of two lists has what the other has not.
func same(t *testing.T, table, program []string) {
	t.Helper()
	for _, x := range program {
		if !slices.Contains(table, x) {
			t.Errorf("the table lacks %s", x)
		}
	}
	for _, x := range table {
		if !slices.Contains(program, x) {
			t.Errorf("the program lacks %s", x)
		}
	}
}

// generated fails unless the rows of the table under a heading of a page are what the program says.
// -update writes them.
func generated(t *testing.T, page, title, want string) {
	t.Helper()
	before, section, _ := strings.Cut(read(t, page), "\n## "+title+"\n")
	rule := regexp.MustCompile(`\n(\|---)+\|\n`).FindString(section)
	head, rows, found := strings.Cut(section, rule)
	got, after, _ := strings.Cut(rows, "\n\n")
	switch got += "\n"; {
	case rule == "" || !found:
		t.Errorf("%s has no table under %s", page, title)
	case got != want && *update:
		must.Do(t, os.WriteFile(page, []byte(before+"\n## "+title+"\n"+head+rule+want+"\n"+after), 0o666))
	case got != want:
		t.Errorf("the table of %s is not what the program says; go test ./docs -run Tables -update writes\n%s", title, want)
	}
}

// code writes names as in code, one after the other.
func code(names ...string) string {
	if len(names) == 0 {
		return ""
	}
	return "`" + strings.Join(names, "`, `") + "`"
}

// keysOf returns the names of a struct's parameters in configs.
func keysOf(of any) (names []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeOf(of)) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); !f.Anonymous {
			names = append(names, name)
		}
	}
	return names
}

// The tables of policies, beliefs, rules and kinds of options are what the program says.
func TestTables(t *testing.T) {
	var rows strings.Builder
	links := strings.NewReplacer("docs/theory.md §1.9", "[theory §1.9](theory.md#19-indices)", "docs/paper.md", "[paper.md](paper.md)")
	for _, k := range policy.Kinds() {
		beliefs := code(k.Beliefs...)
		switch {
		case len(k.Beliefs) == 0:
			beliefs = "none"
		case len(k.Beliefs) == len(policy.BeliefKinds()):
			beliefs = "any (" + code(k.Beliefs[0]) + ")"
		case len(k.Beliefs) == len(policy.BeliefKinds())-1:
			beliefs = "any but `point` (" + code(k.Beliefs[0]) + ")"
		}
		fmt.Fprintf(&rows, "| `%s` | %s | %s | %s |\n", k.Name, links.Replace(k.Doc), beliefs, code(keysOf(k.Spec)...))
	}
	generated(t, "experiments.md", "Policies", rows.String())
	rows.Reset()
	for _, k := range policy.BeliefKinds() {
		fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", k.Name, k.Doc, code(keysOf(k.Spec)...))
	}
	generated(t, "experiments.md", "Beliefs", rows.String())
	rows.Reset()
	for _, r := range options.Rules {
		fmt.Fprintf(&rows, "| `%s` | %s |\n", r, r.Doc)
	}
	generated(t, "exploration.md", "Rules", rows.String())
	rows.Reset()
	for _, k := range options.Kinds {
		fmt.Fprintf(&rows, "| `%s` | %s |\n", k, k.Doc())
	}
	generated(t, "exploration.md", "Kinds of options", rows.String())
}

// descriptions are those of the bundled plugins of a kind, by their names, in the order of the program.
func descriptions(t *testing.T, kind vector.Kind) iter.Seq2[string, vector.Description] {
	return func(yield func(string, vector.Description) bool) {
		for _, p := range plugins.All() {
			d := must.Get(p.Describe(context.Background()))(t)
			_, name, _ := strings.Cut(d.ID, "/")
			name, _, _ = strings.Cut(name, "@")
			if d.Kind == kind && !yield(name, d) {
				return
			}
		}
	}
}

func TestEnvironmentTables(t *testing.T) {
	var rows strings.Builder
	for name, d := range descriptions(t, vector.KindEnvironment) {
		fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", name, d.Doc, strings.Join(parameters(t, d.Params), ", "))
	}
	generated(t, "experiments.md", "Environments", rows.String())
}

// Every key of a config is in one of the tables of its section.
func TestConfigTable(t *testing.T) {
	_, names := table(t, "The config")
	for _, typ := range []reflect.Type{reflect.TypeFor[plan.Config](), reflect.TypeFor[plan.Component]()} {
		for field := range typ.Fields() {
			key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if !slices.Contains(names, key) && key != "plugin" && key != "params" { // which the text explains
				t.Errorf("the table lacks %s", key)
			}
		}
	}
}

// The optional abilities of a plugin in Go are one method each, and the table has all
// of them. The abilities of lanes belong to the SDK, except rollouts.
func TestOptionalTable(t *testing.T) {
	methods := map[string]string{"io.Closer": "Close"}
	for _, directory := range []string{"framework", filepath.Join("framework", "vector")} {
		files, err := filepath.Glob(filepath.Join("..", directory, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal("no files in", directory, err)
		}
		for _, file := range files {
			f := must.Get(parser.ParseFile(token.NewFileSet(), file, nil, 0))(t)
			ast.Inspect(f, func(n ast.Node) bool {
				spec, ok := n.(*ast.TypeSpec)
				if !ok {
					return true
				}
				i, ok := spec.Type.(*ast.InterfaceType)
				if !ok {
					return true
				}
				// The requirements of the host on lanes are no abilities of an
				// author's type.
				name := spec.Name.Name
				if i.Methods.NumFields() == 1 && len(i.Methods.List[0].Names) == 1 && !strings.HasPrefix(name, "Lane") {
					methods[name] = i.Methods.List[0].Names[0].Name
				}
				return false
			})
		}
	}
	rows, names := tableOf(t, "plugins.md", "What else it can do")
	same(t, names, slices.Collect(maps.Keys(methods)))
	for _, row := range rows {
		method := codeWord.FindStringSubmatch(row[2])
		if name := strings.Trim(row[0], " `"); name != "" && (method == nil || !strings.HasPrefix(method[1], methods[name]+"(")) {
			t.Errorf("the method of %s is %s, the table says %s", name, methods[name], row[2])
		}
	}
}

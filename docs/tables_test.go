package docs_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
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

// Every policy is in the guide, with the beliefs that it takes: "any", "none", or
// their names.
func TestPolicyTable(t *testing.T) {
	rows, names := table(t, "Policies")
	same(t, names, policy.Kinds())
	_, beliefs := table(t, "Beliefs")
	for _, row := range rows {
		kind := strings.Trim(row[0], " `")
		spec := policy.Spec{Kind: kind}
		few := 5
		switch kind { // that need more
		case "budgeted":
			spec.Budget = &few
		case "backward-induction":
			spec.Horizon = &few
		}
		said := strings.TrimSpace(row[2])
		for _, b := range beliefs {
			_, err := policy.NewMaker(spec, policy.BeliefSpec{Kind: b}, policy.Task{Arms: 2, Low: 0, High: 1})
			says := strings.HasPrefix(said, "any") || strings.Contains(said, "`"+b+"`")
			if says != (err == nil) {
				t.Errorf("%s: the table says that it works with %s, the program says of %s: %v", kind, said, b, err)
			}
		}
	}
}

// The beliefs of the table are all there are.
func TestBeliefTable(t *testing.T) {
	_, names := table(t, "Beliefs")
	same(t, names, policy.BeliefKinds())
}

// The tables of rules and kinds of options are what the program says: -update writes them.
func TestExplorationTables(t *testing.T) {
	type named interface{ String() string }
	row := func(of named, doc string) string { return fmt.Sprintf("| `%s` | %s |\n", of, doc) }
	rules, kinds := "", ""
	for _, r := range options.Rules {
		rules += row(r, r.Doc())
	}
	for _, k := range options.Kinds {
		kinds += row(k, k.Doc())
	}
	text := read(t, "exploration.md")
	for title, want := range map[string]string{"Rules": rules, "Kinds of options": kinds} {
		before, section, found := strings.Cut(text, "\n## "+title+"\n")
		head, rows, _ := strings.Cut(section, "\n|---|---|\n")
		got, after, _ := strings.Cut(rows, "\n\n")
		if got += "\n"; !found || got != want {
			text = before + "\n## " + title + "\n" + head + "\n|---|---|\n" + want + "\n" + after
			if !*update {
				t.Errorf("the table of %s is not what the program says; go test ./docs -run Tables -update writes\n%s", title, want)
			}
		}
	}
	if *update {
		must.Do(t, os.WriteFile("exploration.md", []byte(text), 0o666))
	}
}

func TestEnvironmentTable(t *testing.T) {
	var ids []string
	for _, p := range plugins.All() {
		d := must.Get(p.Describe(context.Background()))(t)
		if d.Kind == vector.KindEnvironment {
			_, name, _ := strings.Cut(d.ID, "/")
			name, _, _ = strings.Cut(name, "@")
			ids = append(ids, name)
		}
	}
	_, names := table(t, "Environments")
	same(t, names, ids)
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

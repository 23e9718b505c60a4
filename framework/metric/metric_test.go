package metric

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

var update = flag.Bool("update", false, "write the table of docs/experiments.md instead of comparing with it")

// The table of metrics in the documentation is made from the list.
func TestDocs(t *testing.T) {
	const path, begin, end = "../../docs/experiments.md", "<!-- metrics -->\n", "<!-- end of metrics -->\n"
	data := must.Get(os.ReadFile(path))(t)
	before, rest, found := strings.Cut(string(data), begin)
	table, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no %q", path, begin)
	}
	want := docs()
	if *update {
		must.Do(t, os.WriteFile(path, []byte(before+begin+want+end+after), 0o644))
	} else if table != want {
		t.Errorf("the table of metrics in %s is not the list's: run go test ./framework/metric -update", path)
	}
}

// docs is the table.
func docs() string {
	values := map[Value]string{Mean: "mean over all steps", Tail: "mean of the last tenth", Last: "last", Sum: "sum of the points"}
	var b strings.Builder
	b.WriteString("| metric | curve | a run's one value | better | unit |\n|---|---|---|---|---|\n")
	for _, d := range Builtin() {
		better := string(d.Better)
		if d.Better == Neither {
			better = "neither"
		}
		text := d.Text
		if d.From != "" {
			text += fmt.Sprintf(" It comes with `%s`.", d.From)
		}
		if d.From != "" && d.Derive == nil {
			text += " It has no curve."
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", d.Name, text, values[d.Value], better, d.Unit)
	}
	return b.String()
}

// Every metric has words, and comes from a recorder or from another metric.
func TestBuiltin(t *testing.T) {
	seen := map[Name]bool{}
	for _, d := range Builtin() {
		if d.Title == "" || d.Axis == "" || d.Text == "" || d.Value == "" {
			t.Errorf("%s lacks words", d.Name)
		}
		if d.At == nil && d.From == "" && !d.Sparse {
			t.Errorf("nothing makes %s", d.Name)
		}
		if d.From != "" && !seen[d.From] || seen[d.Name] || d.Name.OfPlugin() {
			t.Errorf("%s stands in a wrong place", d.Name)
		}
		seen[d.Name] = true
	}
}

// A metric without a declaration has its name, and ranks nothing.
func TestUnknown(t *testing.T) {
	if d := Define("agent.td_error"); d.Better != Neither || d.Title != "agent.td error" || d.At != nil {
		t.Errorf("%+v", d)
	}
	if d := Define("agent.x", Definition{Name: "agent.x", Title: "X"}); d.Title != "X" {
		t.Errorf("%+v", d)
	}
	if d := Define(Reward, Definition{Name: Reward, Title: "X"}); d.Title != "mean reward" {
		t.Error("a plugin defines the host's metric anew")
	}
}

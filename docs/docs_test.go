// Package docs_test holds the documents to what the program does.
//
// README.md and every Markdown file of this directory and of studies are read from top to bottom.
// Each has a working directory of its own, which begins as a copy of configs/ and
// examples/bootstrap/, and its blocks act there in order:
//
//	sh       is run by sh -eu. In it rlrun and "go run ./cmd/rlrun" are this
//	         source's. Unless an output block follows, "rlrun run" is cut to three
//	         runs an agent, and "rlrun plugin check" measures no speed. An unmarked
//	         block whose lines all begin with go, make or rlrun is such a block, too.
//	output   is what the sh block before it prints; "…" stands for anything in a
//	         line and, alone in it, for any number of lines.
//	yaml     must be YAML. If its first line is a comment that names a file
//	         ("# first.yaml") it becomes that file; a whole config is also run,
//	         for a step, if no later block runs it.
//	go       is the body of an Example of some package, or functions of its
//	         example_test.go, word for word, or a file that gofmt leaves alone.
//	python   is run, where there is a Python with the packages of python's tests
//	         (python/test.sh install makes one). If its first line is a comment that names a file
//	         ("# walk.py") it becomes that file instead.
//	other    is only read.
//
// A comment before a block changes that:
//
//	<!-- test: skip: why -->   leave the block alone
//	<!-- test: full -->        do not cut runs
//	<!-- test: fails -->       the command or config must fail; the output is what
//	                           it writes to stderr, too
//
// Commands that take long or need a network are replaced (shim_test.go). For
// "go test" and other uses of go the packages must exist, except in a module
// that the document makes itself. For make the targets must exist. Links
// between documents are followed. Tables of the guide are compared with the
// program (tables_test.go).
//
// A document that begins with <!-- test: python --> is acted out only where there
// is a Python with the package rlrun: the one that RLRUN_PYTHON names, or python3.
// It is python and python3 to the document's commands. With <!-- test: python jax --> it must
// have that module, too.
//
// With -short only the project's README.md is acted out.
//
// After a change of what is printed, go test ./docs -update writes the output
// blocks anew.
package docs_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/rlrun/rlrun/internal/must"
)

var update = flag.Bool("update", false, "write what commands print into the output blocks of documents")

// documents returns the paths of all documents, relative to this directory.
func documents(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("*.md")
	if err != nil || len(names) == 0 {
		t.Fatal("no documents here", err)
	}
	studies := must.Get(filepath.Glob("studies/*.md"))(t)
	return append(append(names, studies...), "../README.md", "../CONTRIBUTING.md")
}

func read(t *testing.T, name string) string {
	t.Helper()
	data := must.Get(os.ReadFile(name))(t)
	return string(data)
}

// Snippets do what the documents say.
func TestSnippets(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("documents are written for sh, which is not here")
	}
	t.Parallel() // after the other tests, which are quick
	env := shims(t)
	bodies := exampleBodies(t)
	for _, name := range documents(t) {
		t.Run(strings.TrimPrefix(name, "../"), func(t *testing.T) {
			t.Parallel()
			text := read(t, name)
			if testing.Short() && name != "../README.md" {
				t.Skip("acting out every document takes minutes; make ci does it")
			}
			if needs := needsPython.FindStringSubmatch(text); needs != nil && !hasPython(env, needs[1]) {
				t.Skipf("there is no Python with the package rlrun%s (python/test.sh install makes one)", needs[1])
			}
			d := document{name: name, dir: t.TempDir(), env: env, bodies: bodies}
			for _, directory := range []string{"configs", "examples/bootstrap"} {
				must.Do(t, os.CopyFS(filepath.Join(d.dir, directory), os.DirFS(filepath.Join("..", directory))))
			}
			must.Do(t, os.MkdirAll(filepath.Join(d.dir, "docs", "images"), 0o777))
			all := blocks(text)
			for i, b := range all {
				if err := d.act(b, all[i+1:]); err != nil {
					t.Errorf("%s:%d: %v", name, b.line, err)
				}
			}
			if new := d.rewrite(text); *update && new != text && !t.Failed() {
				must.Do(t, os.WriteFile(name, []byte(new), 0o666))
			}
		})
	}
}

// needsPython finds what Python a document needs, by the module besides rlrun.
var needsPython = regexp.MustCompile(`^<!-- test: python( \w+)? -->`)

// document is one that is being acted out.
type document struct {
	name, dir string
	env       []string          // of commands
	bodies    map[string]string // of Examples, with their names
	printed   string            // by the last sh block
	updates   []updated
}

type updated struct {
	block block
	text  string
}

// took finds how long an experiment took.
var took = regexp.MustCompile(`in [0-9.ms]+( ?[a-zµ]*) \([^)]* steps/s\)`)

func (d *document) act(b block, later []block) error {
	if strings.HasPrefix(b.directive, "skip:") {
		return nil
	}
	switch b.lang {
	case "sh":
		return d.shell(b)
	case "output":
		if d.printed == "" {
			return fmt.Errorf("output of nothing: no sh block before it printed")
		}
		if !matches(b.text, d.printed) {
			if *update {
				d.updates = append(d.updates, updated{b, took.ReplaceAllString(d.printed, "in … (… steps/s)")})
				return nil
			}
			return fmt.Errorf("the output is now\n%s", d.printed)
		}
	case "yaml":
		return d.yaml(b, later)
	case "go":
		return d.goCode(b)
	case "python":
		if !hasPython(d.env, "") {
			return nil
		}
		return d.python(b)
	}
	return nil
}

func (d *document) shell(b block) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-euc", b.text)
	cmd.Dir = d.dir
	cmd.Env = slices.Clone(d.env)
	if !b.output && b.directive != "full" {
		cmd.Env = append(cmd.Env, cutVariable+"=3")
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	d.printed = stdout.String()
	switch fails := b.directive == "fails"; {
	case ctx.Err() != nil:
		return fmt.Errorf("takes more than ten minutes:\n%s", b.text)
	case fails && err == nil:
		return fmt.Errorf("should fail, and does not:\n%s", b.text)
	case fails:
		d.printed += stderr.String()
	case err != nil:
		return fmt.Errorf("%w:\n%s\n%s", err, b.text, stderr.String())
	}
	return nil
}

func (d *document) yaml(b block, later []block) error {
	var top map[string]any
	if err := yaml.Unmarshal([]byte(b.text), &top); err != nil {
		return err
	}
	if name := fileName.FindStringSubmatch(b.text); name != nil {
		if err := os.WriteFile(filepath.Join(d.dir, name[1]), []byte(b.text), 0o666); err != nil {
			return err
		}
		if slices.ContainsFunc(later, func(l block) bool { return l.runs(name[1]) }) {
			return nil
		}
	}
	if top["environments"] == nil || top["agents"] == nil || top["tune"] != nil { // rlrun tune runs it
		return nil
	}
	given := []string{"--runs", "1", "--steps", "1", "--quiet"}
	if top["outputs"] == nil { // pictures take longer than the step
		given = append(given, "--set", "outputs=[csv]", "--set", "report={}")
	}
	if top["episodes"] != nil {
		given = append(given, "--set", "episodes=1")
	}
	err := d.try([]byte(b.text), given)
	if b.directive != "fails" {
		return err
	}
	if err == nil {
		return fmt.Errorf("the config should be refused, and is not")
	}
	return nil
}

// runs reports whether a block runs a config.
func (b block) runs(config string) bool {
	return b.lang == "sh" && !strings.HasPrefix(b.directive, "skip:") && strings.Contains(b.text, "rlrun run "+config+"\n")
}

func (d *document) python(b block) error {
	name := "snippet.py"
	named := fileName.FindStringSubmatch(b.text)
	if named != nil {
		name = named[1]
	}
	if err := os.WriteFile(filepath.Join(d.dir, name), []byte(b.text), 0o666); err != nil || named != nil {
		return err
	}
	return d.shell(block{lang: "sh", directive: b.directive, output: b.output, text: "python3 " + name + "\n"})
}

// fileName finds the name of a file that a block begins with.
var fileName = regexp.MustCompile(`^# ([a-z0-9_-]+\.(?:yaml|py))\n`)

// try runs a config with the given flags.
func (d *document) try(config []byte, given []string) error {
	out, err := os.MkdirTemp(d.dir, "try")
	if err != nil {
		return err
	}
	cmd := exec.Command("sh", append([]string{"-c", `exec rlrun run - --out "$0" "$@"`, filepath.Base(out)}, given...)...)
	cmd.Dir, cmd.Env, cmd.Stdin = d.dir, d.env, bytes.NewReader(config)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	return os.RemoveAll(out)
}

func (d *document) goCode(b block) error {
	if regexp.MustCompile(`(?m)^package `).MatchString(b.text) {
		formatted, err := format.Source([]byte(b.text))
		if err == nil && string(formatted) != b.text {
			err = fmt.Errorf("is not gofmt-clean")
		}
		return err
	}
	if _, ok := d.bodies[b.text]; ok {
		return nil
	}
	for rest := b.text; rest != ""; {
		f, after, _ := strings.Cut(rest, "\n}\n")
		if _, ok := d.bodies[f+"\n}\n"]; !ok {
			return fmt.Errorf("is neither the body of an Example nor functions beside one:\n%s", b.text)
		}
		rest = strings.TrimPrefix(after, "\n")
	}
	return nil
}

// rewrite returns the document with its output blocks brought up to date.
func (d *document) rewrite(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i := len(d.updates) - 1; i >= 0; i-- {
		u := d.updates[i]
		from := u.block.line // the line after the fence
		to := from + strings.Count(u.block.text, "\n")
		lines = append(lines[:from:from], append([]string{u.text}, lines[to:]...)...)
	}
	return strings.Join(lines, "")
}

// matches reports whether printed is what an output block says. Other processors
// round differently in the last place, so that elsewhere numbers are not compared.
func matches(want, printed string) bool {
	if runtime.GOARCH != "amd64" {
		number := regexp.MustCompile(`[-+]?\d[\d.]*(e[-+]?\d+)?|[ ─]+`)
		want, printed = number.ReplaceAllString(want, " "), number.ReplaceAllString(printed, " ")
	}
	var pattern strings.Builder
	for line := range strings.Lines(want) {
		if line == "…\n" {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		pattern.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*"))
	}
	return regexp.MustCompile(`^` + pattern.String() + `$`).MatchString(printed)
}

// exampleBodies returns the bodies of all Examples, without their indentation, and the
// other functions of their files, with their names.
func exampleBodies(t *testing.T) map[string]string {
	t.Helper()
	bodies := map[string]string{}
	must.Do(t, filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Name() != "example_test.go" {
			return err
		}
		src := read(t, path)
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, src, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if !strings.HasPrefix(f.Name.Name, "Example") {
				bodies[src[fset.Position(f.Pos()).Offset:fset.Position(f.End()).Offset]+"\n"] = f.Name.Name
				continue
			}
			body := src[fset.Position(f.Body.Lbrace).Offset+2 : fset.Position(f.Body.Rbrace).Offset]
			bodies[regexp.MustCompile(`(?m)^\t`).ReplaceAllString(body, "")] = f.Name.Name
		}
		return nil
	}))
	return bodies
}

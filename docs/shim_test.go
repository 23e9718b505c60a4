package docs_test

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/rlrun/rlrun/internal/must"
)

// The shims are this test itself under other names, first in the PATH of the
// documents' commands.
func TestMain(m *testing.M) {
	shim := map[string]func([]string) error{"rlrun": rlrun, "go": goCommand, "make": makeCommand, "sqlite3": sqlite}
	if act := shim[filepath.Base(os.Args[0])]; act != nil {
		err := act(os.Args[1:])
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			os.Exit(exit.ExitCode())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Environment variables configure the shims.
const (
	binVariable  = "DOCS_BIN"  // the directory they are in
	rootVariable = "DOCS_ROOT" // that of the source
	goVariable   = "DOCS_GO"   // the true go
	cutVariable  = "DOCS_CUT"  // how many runs rlrun run may have, and no speed is measured; unset: any number
)

// shims makes the shims and returns the environment in which they are found.
func shims(t *testing.T) []string {
	t.Helper()
	root := must.Get(filepath.Abs(".."))(t)
	self := must.Get(os.Executable())(t)
	bin := filepath.Join(t.TempDir(), "bin")
	must.Do(t, os.Mkdir(bin, 0o777))
	for _, name := range []string{"rlrun", "go", "make", "sqlite3"} {
		if err := os.Symlink(self, filepath.Join(bin, name)); err != nil {
			t.Skip("no symbolic links:", err)
		}
	}
	gotool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go to build rlrun with")
	}
	must.Do(t, build(gotool, root, filepath.Join(bin, "rlrun.real"), "./cmd/rlrun"))
	must.Do(t, shimPython(bin))
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "RLRUN_") {
			env = append(env, v)
		}
	}
	// rlrun has another HOME, but the go that it starts needs the same caches.
	for _, name := range []string{"GOMODCACHE", "GOCACHE"} {
		value := must.Get(exec.Command(gotool, "env", name).Output())(t)
		env = append(env, name+"="+strings.TrimSpace(string(value)))
	}
	return append(env, binVariable+"="+bin, rootVariable+"="+root, goVariable+"="+gotool,
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// shimPython makes python and python3 the interpreter that has the package rlrun,
// if there is one. A symbolic link would hide its virtual environment from it.
func shimPython(bin string) error {
	named := os.Getenv("RLRUN_PYTHON")
	path, err := exec.Command(cmp.Or(named, "python3"), "-c", "import rlrun.from_gymnasium, sys; print(sys.executable, end='')").Output()
	if err != nil && named == "" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("RLRUN_PYTHON is %s, which does not have rlrun[gymnasium]: %w", named, err)
	}
	for _, name := range []string{"python", "python3"} {
		script := fmt.Sprintf("#!/bin/sh\nexec '%s' \"$@\"\n", path)
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o777); err != nil {
			return err
		}
	}
	// The plugins that its package brings, as where its virtual environment is active.
	plugins, err := filepath.Glob(filepath.Join(filepath.Dir(string(path)), "rlrun-plugin-*"))
	for _, plugin := range plugins {
		err = errors.Join(err, os.Symlink(plugin, filepath.Join(bin, filepath.Base(plugin))))
	}
	return err
}

// hasPython reports whether shims has made a shim of a Python that has the module, "" being any.
func hasPython(env []string, module string) bool {
	return slices.ContainsFunc(env, func(v string) bool {
		bin, ok := strings.CutPrefix(v, binVariable+"=")
		return ok && exec.Command(filepath.Join(bin, "python3"), "-c", "import sys"+strings.Replace(module, " ", ",", 1)).Run() == nil
	})
}

// build builds a program, without the race detector if this has it: documents say
// what programs do in the time that they take.
func build(gotool, root, to, pkg string) error {
	cmd := exec.Command(gotool, "build", "-o", to, pkg)
	cmd.Env = append(os.Environ(), "GOFLAGS="+strings.ReplaceAll(os.Getenv("GOFLAGS"), "-race", ""))
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
	}
	return nil
}

// pass runs a program with this one's input and output.
func pass(name string, args []string) error {
	cmd := exec.Command(name, args...)
	// No plugins of the user's.
	cmd.Env = append(os.Environ(), "HOME="+filepath.Dir(os.Getenv(binVariable)))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}

// rlrun runs the one that was built, with fewer runs if told so.
func rlrun(args []string) error {
	if cut := os.Getenv(cutVariable); cut != "" && len(args) > 1 && args[0] == "run" {
		args = append(args, "--runs", cut)
	}
	return pass(filepath.Join(os.Getenv(binVariable), "rlrun.real"), args)
}

// goCommand runs "go run" and "go build -o FILE" of a package of this source, and
// everything in a module of the document's own. Of all other uses the packages must
// exist.
func goCommand(args []string) error {
	if _, err := os.Stat("go.mod"); err == nil {
		cmd := exec.Command(os.Getenv(goVariable), args...)
		cmd.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false") // without the race detector, if this has it
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		return cmd.Run()
	}
	if len(args) == 4 && args[0] == "build" && args[1] == "-o" {
		program, err := filepath.Abs(args[2])
		if err != nil {
			return err
		}
		return build(os.Getenv(goVariable), os.Getenv(rootVariable), program, args[3])
	}
	if len(args) > 1 && args[0] == "run" {
		if args[1] == "./cmd/rlrun" {
			return rlrun(args[2:])
		}
		program := filepath.Join(os.TempDir(), "docs-"+strconv.Itoa(os.Getpid()))
		defer os.Remove(program)
		if err := build(os.Getenv(goVariable), os.Getenv(rootVariable), program, args[1]); err != nil {
			return err
		}
		return pass(program, args[2:])
	}
	for _, a := range args {
		dir, _, _ := strings.Cut(a, "/...")
		if strings.HasPrefix(a, "./") {
			if info, err := os.Stat(filepath.Join(os.Getenv(rootVariable), dir)); err != nil || !info.IsDir() {
				return fmt.Errorf("go %s: there is no package %s", strings.Join(args, " "), a)
			}
		}
	}
	return nil
}

// makeCommand makes nothing; the targets must exist.
func makeCommand(args []string) error {
	data, err := os.ReadFile(filepath.Join(os.Getenv(rootVariable), "Makefile"))
	if err != nil {
		return err
	}
	for _, a := range args {
		if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(a) + `:`).Match(data) {
			return fmt.Errorf("make: no target %s", a)
		}
	}
	return nil
}

// sqlite prints the answer to sqlite3 -header FILE QUERY as sqlite3 does.
func sqlite(args []string) error {
	if len(args) != 3 || args[0] != "-header" {
		return errors.New("usage: sqlite3 -header FILE QUERY")
	}
	if _, err := os.Stat(args[1]); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", args[1])
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.Query(args[2])
	if err != nil {
		return err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	head := strings.Join(names, "|") + "\n"
	values := make([]any, len(names))
	for i := range values {
		values[i] = new(any)
	}
	for rows.Next() {
		if err := rows.Scan(values...); err != nil {
			return err
		}
		for i, v := range values {
			names[i] = ""
			switch x := (*v.(*any)).(type) {
			case nil:
			case float64:
				names[i] = strconv.FormatFloat(x, 'g', 15, 64)
				if !strings.ContainsAny(names[i], ".e") {
					names[i] += ".0"
				}
			default:
				names[i] = fmt.Sprint(x)
			}
		}
		fmt.Println(head + strings.Join(names, "|"))
		head = ""
	}
	return rows.Err()
}

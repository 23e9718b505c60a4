package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rlrun/rlrun/cmd/rlrun/config"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/internal/must"
)

var update = flag.Bool("update", false, "write what commands print into the golden files of testdata/script")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"rlrun": main, "faulty": serveFaulty, "silent": serveSilent, "stuck": serveStuck})
}

// The scripts in testdata/script are sessions of a user. Commands of their own:
//
//	waitfor PATTERN          wait for a file whose name matches
//	records DIR FILE         write the lines of DIR/runs/*.jsonl, sorted, to FILE
//	smalldisk DIR KiB        make DIR a file system of that size
//
// Conditions of their own are [race], under the race detector, [smalldisk], where that
// command works, and [python], where RLRUN_PYTHON names a Python with the SDK. Scripts in which no goroutines work beside each other skip under [race]:
// it makes them several times slower.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"waitfor": waitFor, "records": records, "smalldisk": smallDisk,
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "race":
				return race, nil
			case "smalldisk":
				return canMount(), nil
			case "python":
				return os.Getenv("RLRUN_PYTHON") != "", nil
			}
			return false, fmt.Errorf("no condition %s", name)
		},
		Setup: func(e *testscript.Env) error {
			for _, v := range e.Vars {
				if strings.HasPrefix(v, "RLRUN_") {
					e.Setenv(strings.SplitN(v, "=", 2)[0], "")
				}
			}
			e.Setenv("PYTHON", os.Getenv("RLRUN_PYTHON")) // which has the SDK
			e.Setenv("HOME", e.WorkDir)                   // no plugins of the user's
			e.Setenv("GORACE", "atexit_sleep_ms=0")       // the race detector's second at the end of every process
			e.Setenv("STEPS", slowSteps)
			return nil
		},
	})
}

func waitFor(ts *testscript.TestScript, _ bool, args []string) {
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if found, _ := filepath.Glob(ts.MkAbs(args[0])); len(found) > 0 {
			return
		}
	}
	ts.Fatalf("no %s after two minutes", args[0])
}

func records(ts *testscript.TestScript, _ bool, args []string) {
	names, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "runs", "*.jsonl"))
	ts.Check(err)
	var lines []string
	for _, name := range names {
		f, err := os.Open(name)
		ts.Check(err)
		in := bufio.NewScanner(f)
		in.Buffer(nil, 1<<24)
		for in.Scan() {
			lines = append(lines, in.Text())
		}
		ts.Check(in.Err())
		ts.Check(f.Close())
	}
	slices.Sort(lines)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.Join(lines, "\n")+"\n"), 0o644))
}

func TestStatus(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want int
	}{
		{errors.New("a run failed"), 1},
		{cli.Usagef("no such flag"), 2},
		{fmt.Errorf("cannot start: %w", config.Problems{{Where: "a:1", Message: "bad"}}), 2},
		{fmt.Errorf("agent: %w", framework.ErrInvalidParams), 2},
		{fmt.Errorf("%w: 3 runs are kept", cli.ErrInterrupted), 130},
		{cli.Retry(fmt.Errorf("%w: 3 runs are kept", cli.ErrInterrupted)), 75},
		{cli.Open(errors.New("go on")), 10},
	} {
		if got := status(tt.err); got != tt.want {
			t.Errorf("%v: status %d, want %d", tt.err, got, tt.want)
		}
	}
}

// The first interrupt cancels the context, whose cause names it. The signals of schedulers
// are ignored after that: they would end this test.
func TestInterruptible(t *testing.T) {
	var said bytes.Buffer
	ctx, stop := interruptible(t.Context(), &said)
	defer stop()
	self := must.Get(os.FindProcess(os.Getpid()))(t)
	must.Do(t, self.Signal(os.Interrupt))
	<-ctx.Done()
	if !errors.Is(context.Cause(ctx), cli.ErrInterrupted) || !strings.Contains(said.String(), "interrupt again to stop at once") {
		t.Errorf("cause %v, said %q", context.Cause(ctx), said.String())
	}
	for _, again := range stopSignals {
		must.Do(t, self.Signal(again))
	}
	time.Sleep(100 * time.Millisecond)
	stop()
	// Each of them is also a first signal, among them what a terminal sends when it closes.
	for _, first := range stopSignals {
		ctx, stop := interruptible(t.Context(), io.Discard)
		must.Do(t, self.Signal(first))
		<-ctx.Done()
		stop()
	}
}

// Every command shows an example, and names the values of its flags in capitals or as
// words, not by their types in Go.
func TestHelp(t *testing.T) {
	types := []string{"string", "stringArray", "strings", "int", "uint", "float", "duration"}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Example == "" && !cmd.Hidden {
			t.Errorf("%s: there is no example", cmd.CommandPath())
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if name, _ := pflag.UnquoteUsage(f); slices.Contains(types, name) {
				t.Errorf("%s: the value of --%s is called %s", cmd.CommandPath(), f.Name, name)
			}
		})
		for _, c := range cmd.Commands() {
			if cmd.Name() != "completion" { // cobra writes the help of its commands
				walk(c)
			}
		}
	}
	walk(newRoot(&host.App{}))
}

// Every command that starts plugins has --replace. The list has the commands that do
// not start any.
func TestReplaceFlag(t *testing.T) {
	without := []string{"help", "report", "submit", "decide", "status", "compact", "compare", "power", "sensitivity", "tune", "export", "threshold", "schema", "version", "licenses", "plugin", "plugin new", "plugin lock", "plugin serve", "mdp", "serve"}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			name := strings.TrimPrefix(c.CommandPath(), "rlrun ")
			if strings.HasPrefix(name, "completion") {
				continue
			}
			f := c.Flags().Lookup("replace") // plugin new has one of its own
			if has := f != nil && f.Value.Type() == "stringArray"; has == slices.Contains(without, name) {
				t.Errorf("%s: --replace is %v", name, has)
			}
			walk(c)
		}
	}
	walk(newRoot(&host.App{}))
}

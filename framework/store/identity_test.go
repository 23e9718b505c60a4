package store

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/must"
)

// Which builds count as one program.
func TestReleased(t *testing.T) {
	build := func(version, modified string, deps ...*debug.Module) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Deps: deps,
			Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: modified}}}
	}
	for name, tt := range map[string]struct {
		info *debug.BuildInfo
		want bool
	}{
		"release":       {build("v1.2.3", "false"), true},
		"development":   {build("(devel)", "false"), false},
		"modified":      {build("v1.2.3", "true"), false},
		"dirty version": {build("v1.2.4-0.20260101000000-abcdef+dirty", "false"), false},
		"replaced":      {build("v1.2.3", "false", &debug.Module{Path: "x", Replace: &debug.Module{Path: "../x"}}), false},
	} {
		if got := released(tt.info); got != tt.want {
			t.Errorf("%s: %t, want %t", name, got, tt.want)
		}
	}
	v := func(level string) string {
		return architecture(&debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "GOARCH", Value: "x"}, {Key: "GOAMD64", Value: level}}})
	}
	if v("v1") == v("v3") || !strings.HasSuffix(v("v3"), " v3") {
		t.Errorf("architectures %s and %s", v("v1"), v("v3"))
	}
}

// The build ID of an executable tells builds of different sources apart, and is empty where
// the linker wrote none.
func TestBuildID(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("it builds programs that are ELF files")
	}
	build := func(constant string, flags ...string) string {
		dir := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() { println("+constant+") }\n"), 0o600))
		args := append(append([]string{"build", "-trimpath", "-o", "program"}, flags...), "main.go")
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return buildID(filepath.Join(dir, "program"))
	}
	one := build("1")
	if again := build("1"); one == "" || again != one {
		t.Errorf("builds of one source are %q and %q", one, again)
	}
	for what, other := range map[string]string{"another source": build("2"), "another linking": build("1", "-ldflags=-s")} {
		if other == "" || other == one {
			t.Errorf("%s: %q, and %q before", what, other, one)
		}
	}
	for _, id := range []string{"", "redacted"} {
		if got := build("1", "-ldflags=-buildid="+id); got != "" {
			t.Errorf("the linker was told %q: build ID %q", id, got)
		}
	}
	if got := buildID("identity.go"); got != "" {
		t.Errorf("a file that is no executable has build ID %q", got)
	}
}

// One executable computes other last bits on a processor without fused
// multiply-add, and is another program there.
func TestProcessorCounts(t *testing.T) {
	if os.Getenv("PRINT_IDENTITY") != "" {
		program := must.Get(thisProgram())(t)
		os.Stdout.WriteString("<" + program.Program + ">")
		return
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("the processor's features can be hidden on amd64 only")
	}
	identity := func(godebug string) string {
		cmd := exec.Command(os.Args[0], "-test.run=^TestProcessorCounts$")
		cmd.Env = append(os.Environ(), "PRINT_IDENTITY=1", "GODEBUG="+godebug)
		out := must.Get(cmd.Output())(t)
		_, rest, _ := strings.Cut(string(out), "<")
		print, _, ok := strings.Cut(rest, ">")
		if !ok {
			t.Fatalf("no identity in %s", out)
		}
		return print
	}
	fused, plain := identity(""), identity("cpu.fma=off")
	if here, err := thisProgram(); err != nil || fused != here.Program {
		t.Errorf("identities %s and %s of one program on one machine (%v)", fused, here.Program, err)
	}
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil && strings.Contains(string(info), " fma ") && fused == plain {
		t.Errorf("the program is %s with and without fused multiply-add", fused)
	}
}

// An error about two unequal records names the plugin that is not rlrun's own.
func TestBlame(t *testing.T) {
	p := &plan.Plan{
		Environments: []plan.Component{{Name: "walk", Plugin: "./walk", Args: []string{"-x"}}},
		Agents:       []plan.Component{{Name: "a", Plugin: "bandit"}, {Name: "b", Plugin: "./learner"}},
	}
	for _, c := range []struct {
		agent, want string
		programs    [2]result.Programs
	}{
		{"a", "; plugin ./walk -x is not deterministic; ", [2]result.Programs{{Host: "h", Environment: "e", Agent: "h"}}},
		{"b", "; plugin ./learner is not deterministic; ", [2]result.Programs{{Host: "h", Environment: "h", Agent: "l"}}},
		{"b", "; plugin ./walk -x or plugin ./learner is not deterministic (rlrun run --verify says which); ", [2]result.Programs{{Host: "h", Environment: "e", Agent: "l"}}},
		{"a", "; the run is not deterministic; ", [2]result.Programs{{Host: "h", Environment: "h", Agent: "h"}}},
		{"a", "; the run is not deterministic; ", [2]result.Programs{{Host: "h", Environment: "e", Agent: "h"}, {Host: "h", Environment: "f", Agent: "h"}}},
	} {
		if c.programs[1] == (result.Programs{}) {
			c.programs[1] = c.programs[0]
		}
		err := Blame(p, fmt.Errorf("reading: %w", &result.DoubleError{Key: result.Key{Environment: "walk", Agent: c.agent}, Programs: c.programs}))
		if !errors.Is(err, result.ErrNotDeterministic) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v, want %q", c.agent, c.programs, err, c.want)
		}
	}
	if other := errors.New("other"); Blame(p, other) != other || Blame(p, nil) != nil {
		t.Error("other errors are changed")
	}
}

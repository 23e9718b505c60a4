//go:build amd64

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/cpu"
)

// unfused tells Go's compiler to fuse no multiplication with an addition.
const unfused = "-gcflags=all=-d=fmahash=qn"

// Go's compiler fuses multiplications with additions for newer processors (GOAMD64=v3), which
// rounds once less. That is all that changes a bit: without it, a build for them records the
// same bytes. It counts as another program anyway: see TestOtherProgramsAreRefused.
func TestInstructionSets(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles bundled plugins for another instruction set; make ci does it")
	}
	if level := os.Getenv("GOAMD64"); level != "" && level != "v1" {
		t.Skip("this test is not built for v1")
	}
	if !cpu.X86.HasAVX2 || !cpu.X86.HasBMI2 || !cpu.X86.HasFMA {
		t.Skip("this processor has no GOAMD64=v3")
	}
	gotool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go to build with")
	}
	records := map[string]string{}
	for level, flags := range map[string][]string{"v1": nil, "v3": {unfused}} {
		run := exec.Command(gotool, append(append([]string{"run"}, flags...), "./testdata/levels", t.TempDir())...)
		run.Env = append(os.Environ(), "GOAMD64="+level)
		run.Stderr = os.Stderr
		out, err := run.Output()
		if err != nil {
			t.Fatal(err)
		}
		records[level] = string(out)
	}
	if strings.Count(records["v1"], "\n") < 20 {
		t.Fatalf("only these were recorded: %s", records["v1"])
	}
	if records["v1"] != records["v3"] {
		t.Error("the builds record different bytes, and not because of fused multiply-adds")
	}
}

//go:build amd64

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/cpu"

	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/must"
)

// unfused tells Go's compiler to fuse no multiplication with an addition.
const unfused = "-gcflags=all=-d=fmahash=qn"

// Go's compiler fuses multiplications with additions for newer processors (GOAMD64=v3), which
// rounds once less. That is all that changes a bit: without it, a build for them records the
// same bytes. It counts as another program anyway: its runs are not added to those of the other
// build.
func TestInstructionSets(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles rlrun for another instruction set; make ci does it")
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
	const config = `{runs: 1, steps: 100, workers: 1,
  environments: [{plugin: gaussian-bandit}, {plugin: bernoulli-bandit}, {plugin: riverswim}, {plugin: fourrooms}, {plugin: mountaincar}, {plugin: acrobot}, {plugin: cartpole}],
  agents: [
    {plugin: bandit, params: {policy: {kind: thompson}}}, {plugin: bandit, name: b2, params: {policy: {kind: ucb1}}},
    {plugin: q-learning}, {plugin: psrl}, {plugin: ucrl2}, {plugin: bootstrap-q}, {plugin: bayesian-q}, {plugin: threshold-model},
    {plugin: sarsa-linear}, {plugin: bootstrap-linear}, {plugin: random}],
  matrix: {skip_incompatible: true}}
`
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "exp.yaml"), []byte(config), 0o600))
	records := map[string][]byte{}
	self := must.Get(os.Executable())(t)
	v1, v3 := filepath.Join(dir, "rlrun"), filepath.Join(dir, "rlrun-v3")
	if err := os.Symlink(self, v1); err != nil { // this executable is rlrun by that name
		t.Fatal(err)
	}
	build := exec.Command(gotool, "build", "-o", v3, unfused, ".")
	build.Env = append(os.Environ(), "GOAMD64=v3")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for level, program := range map[string]string{"v1": v1, "v3": v3} {
		run := exec.Command(program, "run", "exp.yaml", "--out", level, "--quiet", "--set", "outputs=[csv]")
		run.Dir = dir
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for r, err := range result.ReadRecords(filepath.Join(dir, level)) {
			if err != nil {
				t.Fatal(err)
			}
			records[level] = append(r.AppendJSON(records[level]), '\n')
		}
	}
	if len(records["v1"]) == 0 {
		t.Fatal("nothing was recorded")
	}
	if !bytes.Equal(records["v1"], records["v3"]) {
		t.Error("the builds record different bytes, and not because of fused multiply-adds")
	}
	resume := exec.Command(v3, "run", "exp.yaml", "--out", "v1", "--quiet", "--resume", "--runs", "2")
	resume.Dir = dir
	out, err := resume.CombinedOutput()
	if err == nil {
		t.Error("the build for v3 added to the results of the one for v1")
	}
	if !bytes.Contains(out, []byte("amd64 v1")) || !bytes.Contains(out, []byte("amd64 v3")) {
		t.Errorf("the message does not name both: %s", out)
	}
}

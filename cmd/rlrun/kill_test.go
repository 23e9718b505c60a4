package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// stuck is an environment in which the first batch of runs ends at once, and the next
// one does not while the test lasts.
type stuck struct{ begun *int }

const (
	stuckLanes = 4
	stuckFile  = "stuck.now" // in the working directory: there is a stuck batch
)

func (s *stuck) Spec() framework.Spec {
	return framework.Spec{ID: "test/stuck@1", Observation: space.Discrete{N: 1}, Action: space.Discrete{N: 2}, RewardHigh: 1, Continuing: true}
}

func (s *stuck) Reset(context.Context, uint64) (space.Value, error) {
	*s.begun++
	return space.Value{}, nil
}

func (s *stuck) Step(context.Context, space.Value) (framework.TimeStep, error) {
	if _, err := os.Stat(stuckFile); err == nil && *s.begun > stuckLanes {
		time.Sleep(time.Minute)
	}
	return framework.TimeStep{Reward: 1}, nil
}

// serveStuck is the main of a plugin's process.
func serveStuck() {
	begun := 0
	plugin.Serve(&vector.EnvironmentPlugin{
		Description: vector.Description{ID: "test/stuck@1", Kind: vector.KindEnvironment, Doc: "Is stuck."},
		Open: func(_ json.RawMessage, lanes int) (vector.Environment, error) {
			begun = 0
			return vector.Vectorize(func() (framework.Environment, error) { return &stuck{&begun}, nil }, lanes)
		},
	})
}

// Runs that have ended are on disk while the next batch goes on, and kill -9 takes
// nothing of them away. The rest can be done afterwards, with the same results.
func TestEndedRunsSurviveAKill(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and kills processes")
	}
	self := must.Get(os.Executable())(t)
	dir := t.TempDir()
	for _, name := range []string{"rlrun", "stuck"} {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	config := "runs: 8\nsteps: 10\nworkers: 1\nlanes: 4\nlimits: {call: 10m}\nenvironments: [{plugin: ./stuck}]\nagents: [{plugin: bandit, params: {policy: {kind: greedy}}}]\n"
	must.Do(t, os.WriteFile(filepath.Join(dir, "exp.yaml"), []byte(config), 0o600))
	rlrun := func(args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(dir, "rlrun"), append([]string{"run", "exp.yaml", "--quiet"}, args...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GORACE=atexit_sleep_ms=0")
		return cmd
	}
	records := func(out string) map[int]string {
		t.Helper()
		runs := map[int]string{}
		for r, err := range result.ReadRecords(filepath.Join(dir, out)) {
			if err != nil {
				t.Fatal(err)
			}
			runs[r.Run] = string(r.AppendJSON(nil))
		}
		return runs
	}
	if out, err := rlrun("--out", "whole").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := records("whole")

	// SIGQUIT says what rlrun was doing. The status is not 2, which tells schedulers that to
	// try again is of no use.
	quits := exec.Command(filepath.Join(dir, "rlrun"), "serve", "whole", "--addr", "127.0.0.1:0")
	quits.Dir = dir
	var stacks bytes.Buffer
	quits.Stderr = &stacks
	line := must.Get(quits.StdoutPipe())(t)
	must.Do(t, quits.Start())
	if _, err := line.Read(make([]byte, 10)); err != nil {
		t.Error(err)
	}
	must.Do(t, quits.Process.Signal(syscall.SIGQUIT))
	if err := quits.Wait(); err == nil || quits.ProcessState.ExitCode() == 2 || !strings.Contains(stacks.String(), "goroutine ") {
		t.Errorf("after SIGQUIT: %v: %.300s", err, stacks.String())
	}
	stuckPath := filepath.Join(dir, stuckFile)
	must.Do(t, os.WriteFile(stuckPath, nil, 0o600))
	var said strings.Builder
	cmd := rlrun("--out", "killed")
	cmd.Stderr = &said
	must.Do(t, cmd.Start())
	for deadline := time.Now().Add(50 * time.Second); len(records("killed")) < stuckLanes && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // killed
	must.Do(t, os.Remove(stuckPath))
	kept := records("killed")
	if len(kept) != stuckLanes {
		t.Fatalf("%d runs are on disk, want the %d that had ended; %s", len(kept), stuckLanes, said.String())
	}
	if out, err := rlrun("--out", "killed", "--resume").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got := records("killed")
	for run, line := range want {
		if got[run] != line || kept[run] != "" && kept[run] != line {
			t.Errorf("run %d is %s, want %s", run, got[run], line)
		}
	}
}

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// program returns a command of rlrun, which this test's executable is by that name
// (TestMain), and an experiment of 40 runs.
func program(b *testing.B, steps int) (command func(args ...string) *exec.Cmd) {
	b.Helper()
	dir := b.TempDir()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	rlrun, config := filepath.Join(dir, "rlrun"), filepath.Join(dir, "exp.yaml")
	if err := os.Symlink(self, rlrun); err != nil {
		b.Skip(err)
	}
	text := fmt.Sprintf("runs: 40\nsteps: %d\nrecord: {points: 20}\nenvironments: [{plugin: bernoulli-bandit, params: {arms: 64}}]\nagents: [{plugin: bandit, params: {policy: {kind: bayes-ucb}}}]\n", steps)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	return func(args ...string) *exec.Cmd {
		cmd := exec.Command(rlrun, append([]string{"run", config, "--quiet", "--workers", "1"}, args...)...)
		cmd.Dir = dir
		return cmd
	}
}

// CPU time of a shard that has nothing to do.
func BenchmarkShardOverhead(b *testing.B) {
	rlrun := program(b, 10)
	if out, err := rlrun("--out", "out", "--shard", "0/1").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	var cpu time.Duration
	for b.Loop() {
		cmd := rlrun("--out", "out", "--shard", "0/1")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s/op")
}

// How many times faster two shards at once are than one process with one worker.
func BenchmarkTwoShards(b *testing.B) {
	rlrun := program(b, 5_000)
	var one, two time.Duration
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		if out, err := rlrun("--out", fmt.Sprint("one", i), "--shard", "0/1").CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		one += time.Since(began)
		began = time.Now()
		var wg sync.WaitGroup
		for shard := range 2 {
			wg.Go(func() {
				if out, err := rlrun("--out", fmt.Sprint("two", i), "--shard", fmt.Sprintf("%d/2", shard)).CombinedOutput(); err != nil {
					b.Errorf("%v: %s", err, out)
				}
			})
		}
		wg.Wait()
		two += time.Since(began)
	}
	b.ReportMetric(one.Seconds()/two.Seconds(), "speed-up")
}

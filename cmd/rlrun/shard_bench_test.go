package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
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

// The speed of two shards at once, as a multiple of one process with one worker.
func BenchmarkTwoShards(b *testing.B) {
	rlrun := program(b, 50_000)
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

// A hundred shards of 100 runs each, two at a time, and their merge: what a cluster
// leaves behind and what the report of it costs. A shard reads what is recorded when it
// begins, so a thousand shards cost more than ten times as much.
func BenchmarkHundredShards(b *testing.B) {
	const shards = 100
	rlrun := program(b, 100)
	for i := 0; b.Loop(); i++ {
		out := fmt.Sprint("out", i)
		var cpu atomic.Int64
		next := make(chan int)
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for shard := range next {
					cmd := rlrun("--out", out, "--runs", fmt.Sprint(100*shards), "--yes", "--shard", fmt.Sprintf("%d/%d", shard, shards))
					if said, err := cmd.CombinedOutput(); err != nil {
						b.Errorf("%v: %s", err, said)
					}
					cpu.Add(int64(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()))
				}
			})
		}
		for shard := range shards {
			next <- shard
		}
		close(next)
		wg.Wait()
		report := rlrun()
		report.Args = []string{report.Args[0], "report", out}
		began := time.Now()
		if said, err := report.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, said)
		}
		merge := time.Since(began)
		files, bytes := 0, int64(0)
		runs := filepath.Join(report.Dir, out, "runs")
		entries, err := os.ReadDir(runs)
		if err != nil {
			b.Fatal(err)
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				b.Fatal(err)
			}
			files++
			bytes += info.Size()
		}
		b.ReportMetric(time.Duration(cpu.Load()).Seconds()/shards, "cpu-s/shard")
		b.ReportMetric(float64(files), "files")
		b.ReportMetric(float64(bytes)/(100*shards), "B/record")
		b.ReportMetric(merge.Seconds(), "merge-s")
		b.ReportMetric(float64(peak(report.ProcessState))/(1<<20), "merge-MiB")
	}
}

// A million runs of 20 steps: made, recorded, read and reported.
func BenchmarkMillionRuns(b *testing.B) {
	rlrun := program(b, 20)
	for i := 0; b.Loop(); i++ {
		cmd := rlrun("--out", fmt.Sprint("out", i), "--runs", "1000000", "--workers", "0", "--set", "record.points=10",
			"--set", "environments.0.params.arms=4", "--set", "agents.0.params.policy.kind=ucb1", "--set", "outputs=[csv, plots, report]")
		if said, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, said)
		}
		b.ReportMetric(float64(peak(cmd.ProcessState))/(1<<30), "GiB")
		if err := os.RemoveAll(filepath.Join(cmd.Dir, fmt.Sprint("out", i))); err != nil {
			b.Fatal(err)
		}
	}
}

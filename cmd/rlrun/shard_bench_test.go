package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/rlrun/rlrun/framework/result"
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

// A thousand shards of an experiment, as a cluster leaves it behind: the CPU time of one more shard, which has nothing
// to do, and the merge.
func BenchmarkThousandShards(b *testing.B) {
	for _, runs := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("runs=%d", runs), func(b *testing.B) { benchShards(b, 1000, runs) })
	}
}

func benchShards(b *testing.B, shards, runs int) {
	rlrun := program(b, 20)
	call := func(args ...string) *os.ProcessState {
		b.Helper()
		cmd := rlrun(append([]string{"--runs", fmt.Sprint(runs), "--set", "environments.0.params.arms=4", "--set", "agents.0.params.policy.kind=ucb1",
			"--set", "outputs=[csv, plots, report]"}, args...)...)
		if args[0] == "report" {
			cmd.Args = append(cmd.Args[:1], args...)
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		return cmd.ProcessState
	}
	// One process makes the runs. They are dealt out to the files of shards.
	call("--out", "one", "--shard", "0/1", "--workers", "0")
	dir := rlrun().Dir
	var programs result.Programs
	records := make([][]result.Record, shards)
	for r, err := range result.ReadRecords(filepath.Join(dir, "one")) {
		if err != nil {
			b.Fatal(err)
		}
		programs = r.Programs
		records[r.Run%shards] = append(records[r.Run%shards], r)
	}
	call("--out", "many", "--shard", fmt.Sprintf("0/%d", shards))
	files, bytes := 0, int64(0)
	for shard, recs := range records {
		name := result.RecordsName(result.Origin{Environment: "bernoulli-bandit", Agent: "bandit", First: recs[0].Run, Last: recs[len(recs)-1].Run,
			Shard: shard, Shards: shards, Programs: programs})
		path := filepath.Join(dir, "many", "runs", name+".jsonl")
		if shard > 0 {
			if err := result.WriteRecords(filepath.Join(dir, "many"), name, recs); err != nil {
				b.Fatal(err)
			}
		}
		info, err := os.Stat(path)
		if err != nil {
			b.Fatal(err)
		}
		files++
		bytes += info.Size()
	}
	records = nil
	var cpu time.Duration
	for i := 0; b.Loop(); i++ {
		p := call("--out", "many", "--shard", fmt.Sprintf("%d/%d", 1+i%(shards-1), shards))
		cpu += p.UserTime() + p.SystemTime()
	}
	b.ReportMetric(float64(files), "files")
	b.ReportMetric(float64(bytes)/float64(runs), "B/record")
	b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s/shard")
	began := time.Now()
	p := call("report", "many")
	b.ReportMetric(time.Since(began).Seconds(), "merge-s")
	b.ReportMetric((p.UserTime() + p.SystemTime()).Seconds(), "merge-cpu-s")
	b.ReportMetric(float64(peak(p))/(1<<20), "merge-MiB")
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

package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/must"
)

// CPU time of a shard that has nothing to do.
func BenchmarkShardOverhead(b *testing.B) {
	rlrun := program(b, fortyRuns(10))
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

// The speed of two shards at once, divided by the speed of one process with one
// worker. It is measured by wall time, for which two cores must be idle, and by
// the CPU time of the process and of the longer shard.
func BenchmarkTwoShards(b *testing.B) {
	rlrun := program(b, fortyRuns(50_000))
	call := func(out, shard string) (cpu time.Duration) {
		cmd := rlrun("--out", out, "--shard", shard)
		if said, err := cmd.CombinedOutput(); err != nil {
			b.Errorf("%v: %s", err, said)
			return 0
		}
		return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	var one, two, oneCPU, twoCPU time.Duration
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		oneCPU += call(fmt.Sprint("one", i), "0/1")
		one += time.Since(began)
		began = time.Now()
		var cpu [2]time.Duration
		var wg sync.WaitGroup
		for shard := range cpu {
			wg.Go(func() { cpu[shard] = call(fmt.Sprint("two", i), fmt.Sprintf("%d/2", shard)) })
		}
		wg.Wait()
		two += time.Since(began)
		twoCPU += max(cpu[0], cpu[1])
	}
	b.ReportMetric(one.Seconds()/two.Seconds(), "speed-up")
	b.ReportMetric(oneCPU.Seconds()/twoCPU.Seconds(), "speed-up-by-cpu")
}

// A thousand shards of an experiment, as a cluster leaves it behind: the CPU time of one more
// shard, which has nothing to do, and the merge.
func BenchmarkThousandShards(b *testing.B) {
	for _, runs := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("runs=%d", runs), func(b *testing.B) { benchShards(b, 1000, runs) })
	}
}

func benchShards(b *testing.B, shards, runs int) {
	rlrun := program(b, fortyRuns(20))
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
	// One process makes the runs. They are dealt out to the files of shards, line by line: what a
	// process holds counts as memory of those that it starts.
	call("--out", "one", "--shard", "0/1", "--workers", "0")
	call("--out", "many", "--shard", fmt.Sprintf("0/%d", shards))
	dir := rlrun().Dir
	files, err := result.RecordFiles(filepath.Join(dir, "one"))
	if err != nil {
		b.Fatal(err)
	}
	origin, _ := result.ParseRecordsName(files[0])
	outs := make([]*os.File, shards)
	for i := 1; i < shards; i++ {
		origin.First, origin.Last, origin.Shard, origin.Shards = i, i+(runs/shards-1)*shards, i, shards
		if outs[i], err = os.Create(filepath.Join(dir, "many", "runs", result.RecordsName(origin)+".jsonl")); err != nil {
			b.Fatal(err)
		}
	}
	bytes := int64(0)
	number := regexp.MustCompile(`"run":(\d+),`)
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			bytes += int64(len(lines.Bytes())) + 1
			run, err := strconv.Atoi(string(number.FindSubmatch(lines.Bytes())[1]))
			if err == nil && run%shards > 0 {
				_, err = fmt.Fprintf(outs[run%shards], "%s\n", lines.Bytes())
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
	for _, f := range outs[1:] {
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
	files = must.Get(result.RecordFiles(filepath.Join(dir, "many")))(b)
	var cpu time.Duration
	for i := 0; b.Loop(); i++ {
		p := call("--out", "many", "--shard", fmt.Sprintf("%d/%d", 1+i%(shards-1), shards))
		cpu += p.UserTime() + p.SystemTime()
	}
	b.ReportMetric(float64(len(files)), "files")
	b.ReportMetric(float64(bytes)/float64(runs), "B/record")
	b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s/shard")
	began := time.Now()
	p := call("report", "many")
	b.ReportMetric(time.Since(began).Seconds(), "merge-s")
	b.ReportMetric((p.UserTime() + p.SystemTime()).Seconds(), "merge-cpu-s")
	b.ReportMetric(float64(peak(p))/(1<<20), "merge-MiB")
}

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rlrun/rlrun/internal/must"
)

// program returns a command of rlrun, which this test's executable is by that name
// (TestMain), that runs an experiment.
func program(b *testing.B, experiment string) (command func(args ...string) *exec.Cmd) {
	b.Helper()
	dir := b.TempDir()
	self := must.Get(os.Executable())(b)
	rlrun, config := filepath.Join(dir, "rlrun"), filepath.Join(dir, "exp.yaml")
	// A copy, and no link: plugins are started as what /proc/self/exe points to.
	if data, err := os.ReadFile(self); err != nil {
		b.Fatal(err)
	} else if err := os.WriteFile(rlrun, data, 0o700); err != nil {
		b.Fatal(err)
	}
	must.Do(b, os.WriteFile(config, []byte(experiment), 0o600))
	return func(args ...string) *exec.Cmd {
		cmd := exec.Command(rlrun, append([]string{"run", config, "--quiet", "--workers", "1"}, args...)...)
		cmd.Dir = dir
		return cmd
	}
}

// fortyRuns is an experiment of 40 runs.
func fortyRuns(steps int) string {
	return fmt.Sprintf("runs: 40\nsteps: %d\nrecord: {points: 20}\nenvironments: [{plugin: bernoulli-bandit, params: {arms: 64}}]\nagents: [{plugin: bandit, params: {policy: {kind: bayes-ucb}}}]\n", steps)
}

// Many runs of 20 steps: made, recorded, read and reported.
func BenchmarkManyRuns(b *testing.B) {
	for _, runs := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("runs=%d", runs), func(b *testing.B) {
			rlrun := program(b, "steps: 20\nrecord: {points: 10}\nenvironments: [{plugin: bernoulli-bandit, params: {arms: 4}}]\nagents: [{plugin: bandit, params: {policy: {kind: ucb1}}}]\noutputs: [csv, plots, report]\n")
			for i := 0; b.Loop(); i++ {
				out := fmt.Sprint("out", i)
				timed(b, "", rlrun("--out", out, "--runs", fmt.Sprint(runs), "--workers", "0"))
				must.Do(b, os.RemoveAll(filepath.Join(rlrun().Dir, out)))
			}
		})
	}
}

// A sweep of 1,000 agents: its runs, then all tables, plots and the page of them.
func BenchmarkThousandAgents(b *testing.B) {
	for _, environments := range []int{1, 10} {
		b.Run(fmt.Sprintf("environments=%d", environments), func(b *testing.B) {
			var epsilons, arms []string
			for i := range 100 {
				epsilons = append(epsilons, fmt.Sprint(float64(i)/200))
			}
			for i := range environments {
				arms = append(arms, fmt.Sprint(2+i))
			}
			rlrun := program(b, fmt.Sprintf(`runs: 30
steps: 1000
record: {points: 40}
environments: [{plugin: bernoulli-bandit, sweep: {arms: [%s]}}]
agents:
  - name: ε={policy.epsilon} step={belief.step}
    plugin: bandit
    params: {policy: {kind: epsilon-greedy}, belief: {kind: point}}
    sweep: {policy.epsilon: [%s], belief.step: [0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5]}
`, strings.Join(arms, ", "), strings.Join(epsilons, ", ")))
			for i := 0; b.Loop(); i++ {
				out := fmt.Sprint("out", i)
				timed(b, "run-", rlrun("--out", out, "--workers", "0", "--shard", "0/1"))
				report := rlrun()
				report.Args = append(report.Args[:1], "report", out)
				timed(b, "report-", report)
				if page, err := os.Stat(filepath.Join(report.Dir, out, "report.html")); err != nil {
					b.Error(err)
				} else {
					b.ReportMetric(float64(page.Size())/1e6, "page-MB")
				}
				must.Do(b, os.RemoveAll(filepath.Join(rlrun().Dir, out)))
			}
		})
	}
}

// timed runs a command and reports its time, processor time and memory.
func timed(b *testing.B, name string, cmd *exec.Cmd) {
	b.Helper()
	began := time.Now()
	if said, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %v: %s", cmd.Args, err, said)
	}
	p := cmd.ProcessState
	b.ReportMetric(time.Since(began).Seconds(), name+"s")
	b.ReportMetric((p.UserTime() + p.SystemTime()).Seconds(), name+"cpu-s")
	b.ReportMetric(float64(peak(p))/(1<<30), name+"GiB")
}

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

// A sweep of many agents in several environments: its runs, then all tables, plots and the page
// of them, then all comparisons with the first agent.
func BenchmarkManyAgents(b *testing.B) {
	for _, size := range []struct{ agents, environments, runs int }{{1000, 1, 30}, {1000, 10, 30}, {200, 20, 10}} {
		b.Run(fmt.Sprintf("agents=%d/environments=%d", size.agents, size.environments), func(b *testing.B) {
			var epsilons, arms []string
			for i := range size.agents / 10 {
				epsilons = append(epsilons, fmt.Sprint(float64(i)*5/float64(size.agents)))
			}
			for i := range size.environments {
				arms = append(arms, fmt.Sprint(2+i))
			}
			rlrun := program(b, fmt.Sprintf(`runs: %d
steps: 1000
record: {points: 40}
environments: [{plugin: bernoulli-bandit, sweep: {arms: [%s]}}]
agents:
  - name: ε={policy.epsilon} step={belief.step}
    plugin: bandit
    params: {policy: {kind: epsilon-greedy}, belief: {kind: point}}
    sweep: {policy.epsilon: [%s], belief.step: [0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5]}
`, size.runs, strings.Join(arms, ", "), strings.Join(epsilons, ", ")))
			for i := 0; b.Loop(); i++ {
				out := fmt.Sprint("out", i)
				timed(b, "run-", rlrun("--out", out, "--workers", "0", "--shard", "0/1"))
				for _, command := range []string{"report", "compare"} {
					cmd := rlrun()
					cmd.Args = append(cmd.Args[:1], command, out)
					timed(b, command+"-", cmd)
				}
				dir := filepath.Join(rlrun().Dir, out)
				page := must.Get(os.Stat(filepath.Join(dir, "report.html")))(b)
				b.ReportMetric(float64(page.Size())/1e6, "page-MB")
				b.ReportMetric(float64(len(must.Get(os.ReadDir(filepath.Join(dir, "runs")))(b))), "files")
				must.Do(b, os.RemoveAll(dir))
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

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rlrun/rlrun/internal/must"
)

// Memory of rlrun and of plugins in processes of their own while they make runs: after a
// minute, and how much more at the end. An operation is ten seconds of it; -benchtime 1h
// looks for leaks for an hour. In the first minute batches grow to their size, and garbage
// to what the collector lets there be.
func BenchmarkPluginMemory(b *testing.B) {
	rlrun := program(b, fortyRuns(20_000))("--out", "out", "--runs", "1000000", "--transport", "process")
	var said bytes.Buffer
	rlrun.Stderr = &said
	must.Do(b, rlrun.Start())
	// Peaks of ten seconds, as garbage comes and goes.
	watch := func() (host, plugins float64) {
		for range 100 {
			time.Sleep(100 * time.Millisecond)
			sum := 0.0
			for _, child := range descendants(rlrun.Process.Pid) {
				sum += resident(child)
			}
			host, plugins = max(host, resident(rlrun.Process.Pid)), max(plugins, sum)
		}
		return host, plugins
	}
	var host, plugins float64
	for range 6 {
		h, p := watch()
		host, plugins = max(host, h), max(plugins, p)
	}
	var lastHost, lastPlugins float64
	for b.Loop() {
		lastHost, lastPlugins = watch()
	}
	b.ReportMetric(host, "host-MiB")
	b.ReportMetric(lastHost-host, "host-more-MiB")
	b.ReportMetric(plugins, "plugins-MiB")
	b.ReportMetric(lastPlugins-plugins, "plugins-more-MiB")
	if err := rlrun.Process.Signal(syscall.SIGTERM); err != nil {
		b.Error(err)
	}
	if err := rlrun.Wait(); rlrun.ProcessState.ExitCode() != exitInterrupted {
		b.Errorf("it ended by itself: %v: %s", err, &said)
	}
}

// resident is the memory of a process in MiB, 0 if it has ended.
func resident(pid int) float64 {
	statm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	fields := strings.Fields(string(statm))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.Atoi(fields[1])
	return float64(pages*os.Getpagesize()) / (1 << 20)
}

// descendants are the processes that a process and its children have started.
func descendants(pid int) []int {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		text, _ := os.ReadFile(name)
		id, rest, _ := strings.Cut(string(text), " (")
		fields := strings.Fields(rest[strings.LastIndex(rest, ")")+1:])
		if len(fields) < 2 {
			continue
		}
		child, _ := strconv.Atoi(id)
		parent, _ := strconv.Atoi(fields[1])
		children[parent] = append(children[parent], child)
	}
	out := children[pid]
	for i := 0; i < len(out); i++ {
		out = append(out, children[out[i]]...)
	}
	return out
}

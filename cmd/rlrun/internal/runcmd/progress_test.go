package runcmd

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/run"
	"github.com/rlrun/rlrun/internal/must"
)

func smallPlan(t *testing.T) *plan.Plan {
	t.Helper()
	return must.Get(plan.Compile(plan.Config{
		Runs: 10, Steps: 1000,
		Environments: []plan.Component{{Plugin: "e"}},
		Agents:       []plan.Component{{Plugin: "a"}, {Plugin: "b"}},
	}))(t)
}

// lockedBuffer may be read while it is written.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// Runs that make no steps, as those that evaluate saved agents, count when they end.
func TestProgressOfAnEvaluation(t *testing.T) {
	p := smallPlan(t)
	p.Config.Steps = 0
	shown := &progress{plan: p, runs: 20}
	shown.event(run.Event{Runs: 5, Failed: 1})
	if got := shown.line(); got != "25.0%, 5 of 20 runs, 1 failed" {
		t.Errorf("%q", got)
	}
}

// Elsewhere than on a terminal a line comes now and then, at longer and longer
// intervals, and none of a quick experiment.
func TestProgressLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out lockedBuffer
		p := newProgress(&out, smallPlan(t), false, false)
		p.event(run.Event{Reused: 5})
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if out.String() != "" {
			t.Errorf("after 4 s: %q", out.String())
		}
		p.event(run.Event{Interactions: 2500, Units: 2500, Runs: 2})
		p.event(run.Event{Cell: plan.Cell{Agent: 1}, Interactions: 500, Units: 500, Runs: 1, Failed: 1})
		time.Sleep(2 * time.Second)
		synctest.Wait()
		// 3,000 steps in 5 s. With the runs that were found done or have failed it is 9,000 of
		// 20,000. While runs fail, nobody knows when they are given up.
		want := "45.0%, 8 of 20 runs, 1 failed, 600 steps/s; unknown time left; now: e / b\n"
		if out.String() != want {
			t.Errorf("got %q, want %q", out.String(), want)
		}
		p.event(run.Event{Interactions: 1000, Units: 1000, Runs: 1})
		if got, want := p.line(), "50.0%, 9 of 20 runs, 1 failed, 667 steps/s; 15 s left; now: e / a"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		time.Sleep(4 * time.Minute)
		synctest.Wait()
		if n := strings.Count(out.String(), "\n"); n != 7 {
			t.Errorf("%d lines in four minutes, want 7: after 5, 10, 20, 40, 80, 140 and 200 s", n)
		}
		p.stop()
	})
}

// For programs there is a line of JSON every 200 ms, and one at the end. The first has the grid.
func TestProgressJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out lockedBuffer
		p := newProgress(&out, smallPlan(t), true, true)
		time.Sleep(100 * time.Millisecond)
		p.event(run.Event{Cell: plan.Cell{Agent: 1}, Interactions: 3000, Units: 3000, Runs: 3, Failed: 1})
		time.Sleep(200 * time.Millisecond)
		p.stop()
		var lines []state
		for line := range strings.Lines(out.String()) {
			var s state
			must.Do(t, json.Unmarshal([]byte(line), &s))
			lines = append(lines, s)
		}
		now := state{Output: lines[0].Output, Runs: 20, Ended: 3, Failed: 1, Share: 0.2, Environment: "e", Agent: "b"}
		first := state{Output: now.Output, Runs: 20, Environment: "e", Agent: "a", Grid: p.plan.Grid}
		if want := []state{first, now, now}; !reflect.DeepEqual(lines, want) || now.Output == "" || len(first.Grid) == 0 {
			t.Errorf("got %+v, want %+v", lines, want)
		}
	})
}

// A batch that failed and is replayed takes its interactions back.
func TestProgressReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgress(&bytes.Buffer{}, smallPlan(t), false, false)
		defer p.stop()
		time.Sleep(time.Second)
		p.event(run.Event{Interactions: 10000, Units: 10000})
		p.event(run.Event{Interactions: -10000, Units: -10000})
		if got, want := p.line(), "0.0%, 0 of 20 runs"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		p.event(run.Event{Interactions: 1000, Units: 1000}) // it may be played up to the same failure
		if got, want := p.line(), "5.0%, 0 of 20 runs, 1 k steps/s; unknown time left; now: e / a"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		p.event(run.Event{Interactions: 1000, Units: 1000, Runs: 2})
		if got, want := p.line(), "10.0%, 2 of 20 runs, 2 k steps/s; 9.0 s left; now: e / a"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		p.event(run.Event{Interactions: 18000, Units: 18000, Runs: 18})
		if got, want := p.line(), "100.0%, 20 of 20 runs, 20 k steps/s"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// The line on a terminal fits it. Where the terminal became narrower and wrapped the
// old line, all rows of that are removed.
func TestProgressOnNarrowedTerminal(t *testing.T) {
	var out bytes.Buffer
	p := &progress{w: &out, plan: smallPlan(t), runs: 20, started: time.Now()}
	p.draw(80)
	first := strings.TrimPrefix(out.String(), "\r\x1b[J")
	if n := len([]rune(first)); n >= 80 || !strings.Contains(first, "0 of 20 runs") {
		t.Errorf("%d characters: %q", n, first)
	}
	out.Reset()
	p.draw(10) // the old line of 38 characters has four rows now
	if want := "\x1b[3A\r\x1b[J"; !strings.HasPrefix(out.String(), want) || len([]rune(strings.TrimPrefix(out.String(), want))) > 9 {
		t.Errorf("got %q, want %q and up to 9 characters", out.String(), want)
	}
}

// Names in wide letters do not make the line longer than the terminal.
func TestProgressOfWideNames(t *testing.T) {
	plan := smallPlan(t)
	plan.Environments[0].Name = "環境環境環境環境環境環境"
	var out bytes.Buffer
	p := &progress{w: &out, plan: plan, runs: 20, started: time.Now(), made: 1, units: 1}
	for _, width := range []int{90, 70, 69} {
		p.draw(width)
		if p.drawn >= width || p.drawn < width-2 || !strings.Contains(out.String(), "環境") {
			t.Errorf("%d columns of %d: %q", p.drawn, width, out.String())
		}
	}
}

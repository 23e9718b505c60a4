package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	pretty "github.com/jedib0t/go-pretty/v6/progress"
	"golang.org/x/term"

	"github.com/rlrun/rlrun/framework/experiment"
)

// progress shows how far an experiment is: a bar on a terminal, a line now and
// then elsewhere.
type progress struct {
	w       io.Writer
	plan    *experiment.Plan
	steps   int64 // of all runs still to do
	runs    int   // still to do
	reused  int
	started time.Time

	mu     sync.Mutex
	made   int64
	ended  int
	failed int
	cell   experiment.Cell

	bar     *pretty.Progress
	tracker *pretty.Tracker
	stopped chan struct{}
	done    sync.WaitGroup
}

// newProgress begins to show progress on w.
func newProgress(w io.Writer, plan *experiment.Plan, reused int) *progress {
	runs := len(plan.Cells())*plan.Config.Runs - reused
	p := &progress{
		w: w, plan: plan, runs: runs, reused: reused, steps: int64(runs) * int64(plan.Config.Steps),
		started: time.Now(), stopped: make(chan struct{}),
	}
	if width := terminalWidth(w); width > 0 && os.Getenv("TERM") != "dumb" {
		p.startBar(width)
	} else {
		p.done.Go(p.lines)
	}
	return p
}

// terminalWidth returns the columns of a terminal, 0 if w is none.
func terminalWidth(w any) int {
	f, ok := w.(interface{ Fd() uintptr })
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	return width
}

// event is told of every piece of progress.
func (p *progress) event(e experiment.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made += int64(e.Interactions)
	p.ended += e.Runs
	p.failed += e.Failed
	p.cell = e.Cell
}

const refresh = 200 * time.Millisecond

func (p *progress) startBar(width int) {
	p.tracker = &pretty.Tracker{Total: max(p.steps, 1), AutoStopDisabled: true}
	bar := &pretty.Progress{}
	bar.SetOutputWriter(p.w)
	bar.SetUpdateFrequency(refresh)
	bar.SetTrackerPosition(pretty.PositionRight)
	bar.SetTrackerLength(20)
	bar.SetMessageLength(max(20, width-36))
	style := pretty.StyleBlocks
	style.Options.Separator = "  "
	style.Options.PercentFormat = "%3.0f%%"
	style.Options.DoneString = ""
	style.Visibility = pretty.StyleVisibility{Percentage: true, Tracker: true}
	bar.SetStyle(style)
	bar.AppendTracker(p.tracker)
	p.bar = bar
	p.done.Go(bar.Render)
	p.done.Go(func() {
		tick := time.NewTicker(refresh)
		defer tick.Stop()
		for {
			p.update()
			select {
			case <-tick.C:
			case <-p.stopped:
				return
			}
		}
	})
}

func (p *progress) update() {
	text, made := p.line(true), int64(0)
	p.mu.Lock()
	made = p.made
	p.mu.Unlock()
	p.tracker.SetValue(min(made, p.tracker.Total))
	p.tracker.UpdateMessage(text)
}

// lines writes a line after 5 s, 10 s, 20 s and so on, at least every minute.
func (p *progress) lines() {
	wait := 5 * time.Second
	for {
		select {
		case <-time.After(wait):
			fmt.Fprintln(p.w, p.line(false))
			if wait = min(2*wait, time.Minute); wait == 10*time.Second {
				wait = 5 * time.Second
			}
		case <-p.stopped:
			return
		}
	}
}

// line says how far it is.
func (p *progress) line(short bool) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	elapsed := time.Since(p.started)
	words := []string{fmt.Sprintf("%d of %d runs", p.ended+p.reused, p.runs+p.reused)}
	if p.failed > 0 {
		words = append(words, fmt.Sprintf("%d failed", p.failed))
	}
	if !short && p.steps > 0 {
		words = append(words, fmt.Sprintf("%.0f%%", 100*float64(p.made)/float64(p.steps)))
	}
	if p.made > 0 {
		words = append(words, rate(float64(p.made)/elapsed.Seconds()))
		if left := float64(p.steps-p.made) / float64(p.made) * elapsed.Seconds(); left > 0 {
			words = append(words, clock(time.Duration(left*float64(time.Second)))+" left")
		}
		words = append(words, p.plan.Agents[p.cell.Agent].Name)
	}
	return strings.Join(words, ", ")
}

// stop ends the display.
func (p *progress) stop() {
	close(p.stopped)
	if p.bar != nil {
		p.update()
		p.tracker.MarkAsDone()
		p.bar.Stop()
	}
	p.done.Wait()
}

// rate writes steps per second.
func rate(perSecond float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if perSecond >= u.size {
			return fmt.Sprintf("%.3g %s steps/s", perSecond/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.3g steps/s", perSecond)
}

// clock writes a time in the two units that matter.
func clock(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()+0.5))
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
}

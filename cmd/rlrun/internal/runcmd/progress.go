package runcmd

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	pretty "github.com/jedib0t/go-pretty/v6/progress"

	"github.com/rlrun/rlrun/framework/experiment"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
)

// progress shows how far an experiment is: a bar on a terminal, a line now and
// then elsewhere.
type progress struct {
	w       io.Writer
	plan    *experiment.Plan
	runs    int // planned, those found done included
	reused  int // found done
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
	p := &progress{
		w: w, plan: plan, runs: len(plan.Cells()) * plan.Config.Runs, reused: reused,
		started: time.Now(), stopped: make(chan struct{}),
	}
	if width := cli.Width(w); width > 0 && os.Getenv("TERM") != "dumb" {
		p.startBar(width)
	} else {
		p.done.Go(p.lines)
	}
	return p
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

// share is how much of the whole experiment is done, in [0,1].
func (p *progress) share() float64 {
	return (float64(p.reused) + float64(p.made)/float64(p.plan.Config.Steps)) / float64(p.runs)
}

const (
	refresh  = 200 * time.Millisecond
	barTotal = 10000
)

func (p *progress) startBar(width int) {
	p.tracker = &pretty.Tracker{Total: barTotal, AutoStopDisabled: true}
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
	text := p.line(true)
	p.mu.Lock()
	share := p.share()
	p.mu.Unlock()
	p.tracker.SetValue(int64(share * barTotal))
	p.tracker.UpdateMessage(text)
}

// firstLine is after how long something is said where there is no terminal.
const firstLine = 5 * time.Second

// lines writes a line after 5, 10, 20, 40, 80 s, and then every minute.
func (p *progress) lines() {
	for next := firstLine; ; next = min(2*next, next+time.Minute) {
		select {
		case <-time.After(next - time.Since(p.started)):
			fmt.Fprintln(p.w, p.line(false))
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
	words := []string{fmt.Sprintf("%d of %d runs", p.reused+p.ended, p.runs)}
	if p.failed > 0 {
		words = append(words, fmt.Sprintf("%d failed", p.failed))
	}
	if !short {
		words = append(words, fmt.Sprintf("%.0f%%", 100*p.share()))
	}
	if p.made > 0 {
		words = append(words, cli.Rate(float64(p.made)/elapsed.Seconds()))
	}
	if steps := int64(p.runs-p.reused) * int64(p.plan.Config.Steps); p.made > 0 && p.made < steps {
		left := time.Duration(float64(elapsed) * float64(steps-p.made) / float64(p.made))
		words = append(words, cli.Clock(left)+" left", p.plan.Agents[p.cell.Agent].Name)
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

// announce says on w what is being done, if it takes longer than that. The caller ends
// it; nothing is written any more then.
func announce(w io.Writer, after time.Duration, what string) (end func()) {
	said := make(chan struct{})
	timer := time.AfterFunc(after, func() {
		fmt.Fprintln(w, what)
		close(said)
	})
	return func() {
		if !timer.Stop() {
			<-said
		}
	}
}

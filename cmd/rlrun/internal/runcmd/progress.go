package runcmd

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/run"
)

// progress shows how far an experiment is: a line that is redrawn on a terminal, a
// line now and then elsewhere.
type progress struct {
	w       io.Writer
	plan    *plan.Plan
	runs    int // planned, those found done included
	quiet   bool
	started time.Time

	mu      sync.Mutex
	begun   bool  // what is done was counted
	reused  int   // found done
	made    int64 // steps
	units   int64 // of the budget: see loop.Work
	ended   int
	failed  int
	failing bool // the last runs that ended failed, or steps were taken back since
	cell    plan.Cell
	notices []string // told by stop
	choices []string // likewise, if verbose
	verbose bool

	drawn   int // columns of the line on the terminal
	stopped chan struct{}
	done    sync.WaitGroup
}

// newProgress begins to show progress on w, in JSON or for people; if quiet and not in JSON, it
// only counts and keeps warnings. In JSON, recorded are named.
func newProgress(w io.Writer, of *plan.Plan, quiet, asJSON bool, recorded ...string) *progress {
	p := &progress{
		w: w, plan: of, quiet: quiet, runs: len(of.Cells) * of.Config.Runs,
		started: time.Now(), stopped: make(chan struct{}),
	}
	switch {
	case asJSON:
		p.done.Go(func() { p.json(recorded) })
	case quiet:
	case cli.Width(w) > 0 && os.Getenv("TERM") != "dumb":
		p.w = cli.Raw(w)
		p.done.Go(p.redraw)
	default:
		p.done.Go(p.lines)
	}
	return p
}

// event is called with every piece of progress.
func (p *progress) event(e run.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begun = true
	p.reused += e.Reused
	p.made, p.units = p.made+int64(e.Interactions), p.units+int64(e.Units)
	p.ended += e.Runs
	p.failed += e.Failed
	if e.Runs > 0 {
		p.failing = e.Failed == e.Runs
	} else if e.Units < 0 { // of a batch that failed
		p.failing = true
	}
	p.cell = e.Cell
	if e.Choice != "" && p.verbose {
		p.choices = append(p.choices, e.Choice)
	}
	if e.Notice != "" && len(p.notices) < 10 {
		p.notices = append(p.notices, e.Notice)
	}
}

// share is how much of the whole experiment is done, in [0,1].
func (p *progress) share() float64 {
	made := float64(p.units) / float64(max(p.plan.Config.Budget(), 1))
	if p.plan.Config.Budget() == 0 { // saved agents are evaluated, which do not step
		made = float64(p.ended - p.failed)
	}
	return (float64(p.reused) + float64(p.failed) + made) / float64(p.runs)
}

// refresh is the time between two drawings of the line on a terminal.
const refresh = 200 * time.Millisecond

// redraw keeps one line of a terminal up to date, until stop.
func (p *progress) redraw() {
	tick := time.NewTicker(refresh)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.draw(cli.Width(p.w))
		case <-p.stopped:
			p.draw(cli.Width(p.w))
			fmt.Fprintln(p.w)
			return
		}
	}
}

// state is a line of --progress json.
type state struct {
	Output      string  `json:"output"`
	Runs        int     `json:"runs"`
	Ended       int     `json:"ended"`
	Failed      int     `json:"failed"`
	Share       float64 `json:"share"`
	Environment string  `json:"environment"`
	Agent       string  `json:"agent"`
	Grid        []int   `json:"grid,omitempty"`

	Recorded []string `json:"recorded,omitempty"` // files of records that were there
}

// json writes how far it is as a line of JSON, at the beginning, every refresh and at the end.
func (p *progress) json(recorded []string) {
	tick := time.NewTicker(refresh)
	defer tick.Stop()
	for grid, over := p.plan.Grid, false; ; grid, recorded = nil, nil {
		p.mu.Lock()
		s := state{
			p.plan.Config.Output, p.runs, p.reused + p.ended, p.failed, p.share(),
			p.plan.Environments[p.cell.Environment].Name, p.plan.Agents[p.cell.Agent].Name, grid, recorded,
		}
		p.mu.Unlock()
		_ = json.NewEncoder(p.w).Encode(s) // cli.Output keeps the error
		if over {
			return
		}
		select {
		case <-tick.C:
		case <-p.stopped:
			over = true
		}
	}
}

// draw replaces the line on a terminal of so many columns. A terminal that became
// narrower has wrapped the old line: all its rows are removed.
func (p *progress) draw(width int) {
	if width <= 0 {
		return
	}
	line := text.Trim(p.bar(min(20, width/4))+"  "+p.line(), width-1)
	up := ""
	if rows := (p.drawn + width - 1) / width; rows > 1 {
		up = fmt.Sprintf("\x1b[%dA", rows-1)
	}
	p.drawn = text.StringWidthWithoutEscSequences(line)
	fmt.Fprint(p.w, up+"\r\x1b[J"+line)
}

// bar draws the share that is done.
func (p *progress) bar(width int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	full := min(width, int(p.share()*float64(width)))
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}

// firstLine is after how long something is said where there is no terminal.
const firstLine = 5 * time.Second

// lines writes a line after 5, 10, 20, 40, 80 s, and then every minute.
func (p *progress) lines() {
	for next := firstLine; ; next = min(2*next, next+time.Minute) {
		select {
		case <-time.After(next - time.Since(p.started)):
			fmt.Fprintln(p.w, p.line())
		case <-p.stopped:
			return
		}
	}
}

// line says how far it is.
func (p *progress) line() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	elapsed := time.Since(p.started)
	words := []string{fmt.Sprintf("%.1f%%", 100*p.share()), fmt.Sprintf("%d of %d runs", p.reused+p.ended, p.runs)}
	if p.failed > 0 {
		words = append(words, fmt.Sprintf("%d failed", p.failed))
	}
	if p.made > 0 {
		words = append(words, cli.Rate(float64(p.made)/elapsed.Seconds()))
	}
	text := strings.Join(words, ", ")
	// Runs that failed are over. While runs fail they may be given up at any time, and those of a batch
	// that failed are made anew.
	if all := int64(p.runs-p.reused-p.failed) * int64(p.plan.Config.Budget()); p.units > 0 && p.units < all {
		left := "unknown time"
		if !p.failing {
			left = cli.Clock(time.Duration(float64(elapsed) * float64(all-p.units) / float64(p.units)))
		}
		text += fmt.Sprintf("; %s left; now: %s / %s", left, // long names are cut off
			cli.Printable(p.plan.Environments[p.cell.Environment].Name), cli.Printable(p.plan.Agents[p.cell.Agent].Name))
	}
	return text
}

// stop ends the display.
func (p *progress) stop() {
	close(p.stopped)
	p.done.Wait()
	for _, c := range p.choices {
		fmt.Fprintf(p.w, "rlrun: %s\n", cli.Printable(c))
	}
	for _, n := range p.notices {
		fmt.Fprintf(p.w, "rlrun: warning: %s\n", cli.Printable(n))
	}
}

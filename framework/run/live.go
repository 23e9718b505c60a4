package run

import (
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/internal/each"
)

// liveEvery is the time between two writes of a process's live file.
const liveEvery = 5 * time.Second

// liveView writes the live file of a process. All methods of nil do nothing.
type liveView struct {
	plan  *plan.Plan
	file  store.LiveFile
	every time.Duration
	watch func([]result.Record) // see Settings.Watch; may be nil

	mu      sync.Mutex
	began   time.Time
	next    time.Time // no write before it
	steps   int
	batches map[*worker]*liveBatch
}

// liveBatch is what a worker does.
type liveBatch struct {
	next time.Time // no look before it
	cell result.LiveCell
}

// newLive begins the live file of a process.
func newLive(p *plan.Plan, file store.LiveFile, watch func([]result.Record)) *liveView {
	now := time.Now()
	return &liveView{plan: p, file: file, every: liveEvery, watch: watch, began: now, next: now.Add(liveEvery), batches: map[*worker]*liveBatch{}}
}

// progress records that a worker has made steps, and looks at its runs from time to time.
func (v *liveView) progress(w *worker, steps int, unfinished func() []loop.Outcome) {
	if v == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.steps += steps
	now := time.Now()
	b := v.batches[w]
	if b == nil {
		b = &liveBatch{next: now.Add(v.every / 2)}
		v.batches[w] = b
	}
	if now.Before(b.next) {
		return
	}
	b.next = now.Add(v.every)
	runs := unfinished()
	b.cell = liveCell(v.plan, w.cell, runs)
	v.write(now)
	if v.watch != nil {
		v.watch(w.records(runs))
	}
}

// finished passes on the records of runs that are over.
func (v *liveView) finished(runs []result.Record) {
	if v == nil || v.watch == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.watch(runs)
}

// ended records that a worker's batch is over.
func (v *liveView) ended(w *worker) {
	if v == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.batches, w)
	v.write(time.Now())
}

// write writes the file if it is time to. The file is for people, so that an experiment
// goes on without it.
func (v *liveView) write(now time.Time) {
	if now.Before(v.next) {
		return
	}
	v.next = now.Add(v.every)
	l := result.Live{StepsPerSecond: float64(v.steps) / now.Sub(v.began).Seconds(), Cells: []result.LiveCell{}}
	for _, b := range v.batches {
		if b.cell.Runs > 0 {
			l.Cells = append(l.Cells, b.cell)
		}
	}
	v.file.Write(&l)
}

// close removes the file.
func (v *liveView) close() { v.file.Remove() }

// liveCell sums up unfinished runs of a cell.
func liveCell(p *plan.Plan, c plan.Cell, runs []loop.Outcome) result.LiveCell {
	out := result.LiveCell{Environment: p.Environments[c.Environment].Name, Agent: p.Agents[c.Agent].Name, Runs: len(runs), Curves: []result.LiveCurve{}}
	widths := func(run loop.Outcome) []float64 {
		steps := run.Curves[result.StepsMade]
		if p.Config.Episodes == 0 {
			steps = each.Of(p.Grid, func(step int) float64 { return float64(step) })
		}
		return result.Widths(nil, steps)
	}
	derived := metric.Select(func(d *metric.Definition) bool { return d.Derive != nil })
	at := map[result.Metric]*result.LiveCurve{}
	add := func(m result.Metric, curve []float64) {
		c := at[m]
		if c == nil {
			c = &result.LiveCurve{Metric: m}
			at[m] = c
		}
		for i, x := range curve {
			if i == len(c.Mean) {
				c.Mean, c.Runs = append(c.Mean, math.NaN()), append(c.Runs, 0)
			}
			if math.IsNaN(x) {
				continue
			}
			if c.Runs[i]++; c.Runs[i] == 1 {
				c.Mean[i] = x
			} else {
				c.Mean[i] += (x - c.Mean[i]) / float64(c.Runs[i])
			}
		}
	}
	for _, run := range runs {
		out.Steps, out.Episodes = out.Steps+run.Steps, out.Episodes+run.Episodes
		for m, curve := range run.Curves {
			if slices.ContainsFunc(curve, func(x float64) bool { return !math.IsNaN(x) }) {
				add(m, curve)
			}
		}
		for _, m := range derived {
			d := metric.Define(m)
			if curve := run.Curves[d.From]; curve != nil && run.Curves[m] == nil {
				add(m, d.Derive(nil, curve, widths(run)[:len(curve)]))
			}
		}
	}
	for _, c := range at {
		out.Curves = append(out.Curves, *c)
	}
	slices.SortFunc(out.Curves, func(a, b result.LiveCurve) int { return strings.Compare(string(a.Metric), string(b.Metric)) })
	return out
}

package experiment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/rlrun/rlrun/framework/result"
)

// Options are what running a plan needs from outside.
type Options struct {
	// Dir is the output directory, made by Prepare.
	Dir string
	// Open gives access to plugins.
	Open Opener
	// Remote says whether a component runs in a process of its own, which
	// decides how many lanes are stepped together.
	Remote func(Component) bool
	// Done says which runs are done already (Prepare returns it); they are left
	// out.
	Done Done
	// Session names the programs in records; with its zero value they name none.
	Session Session
	// Event, if not nil, is told of progress. Calls never overlap.
	Event func(Event)
}

// Event is a piece of progress.
type Event struct {
	Cell Cell
	// Interactions made since the last event of the cell; negative when a batch
	// failed and will be replayed.
	Interactions int
	// Runs and Failed count runs that ended since the last event of the cell.
	Runs, Failed int
}

// Done is the set of runs that have an ok record.
type Done map[result.Key]bool

// Lane counts where the config names none. In this process few lanes keep the
// beliefs of a lane in the processor's cache; across processes many lanes share
// the cost of a call (benchmarks: loop.BenchmarkLanes, plugin.BenchmarkLanes).
const (
	lanesInProcess = 4
	lanesRemote    = 1024
)

type job struct {
	cell Cell
	runs []int
}

// Run does every run of the plan that is not done yet and writes its record. It
// returns the context's cause if it was cancelled: then the record of every run
// that had ended is on disk. A failed run is a record, not an error.
func (p *Plan) Run(ctx context.Context, o Options) error {
	workers := p.Config.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	jobs := p.jobs(o, workers)
	workers = max(1, min(workers, len(jobs)))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan job)
	go func() {
		defer close(queue)
		for _, j := range jobs {
			select {
			case queue <- j:
			case <-ctx.Done():
				return
			}
		}
	}()
	var mu sync.Mutex
	event := func(e Event) {
		if o.Event != nil {
			mu.Lock()
			defer mu.Unlock()
			o.Event(e)
		}
	}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			b := &bench{plan: p, open: o.Open}
			b.notify = func(n int) { event(Event{Cell: b.cell, Interactions: n}) }
			defer b.close()
			w := writer{plan: p, dir: o.Dir, session: &o.Session, event: event}
			for j := range queue {
				b.at(j.cell)
				recs, err := b.do(ctx, j.runs, p.restarts(j.cell))
				if err = errors.Join(w.add(j.cell, recs), err); err != nil {
					cancel(err)
					break
				}
			}
			if err := w.flush(); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// writer collects a worker's records and writes them to a file of their own now
// and then: often enough that little is lost whatever happens, seldom enough
// that syncing files costs nothing.
type writer struct {
	plan    *Plan
	dir     string
	session *Session
	event   func(Event)
	cell    Cell
	recs    []result.Record
	since   time.Time // when the oldest of recs came
}

const flushEvery = 2 * time.Second

func (w *writer) add(c Cell, recs []result.Record) error {
	if c != w.cell || (len(w.recs) > 0 && time.Since(w.since) > flushEvery) {
		if err := w.flush(); err != nil {
			return err
		}
	}
	if len(w.recs) == 0 {
		w.since = time.Now()
	}
	w.cell = c
	w.recs = append(w.recs, recs...)
	e := Event{Cell: c, Runs: len(recs)}
	for _, r := range recs {
		if r.Status == result.Failed {
			e.Failed++
		}
	}
	if len(recs) > 0 {
		w.event(e)
	}
	return nil
}

func (w *writer) flush() error {
	if len(w.recs) == 0 {
		return nil
	}
	slices.SortFunc(w.recs, func(x, y result.Record) int { return x.Run - y.Run })
	environment, agent := slugs(w.plan.Environments)[w.cell.Environment], slugs(w.plan.Agents)[w.cell.Agent]
	name := func(number int) string {
		return result.RecordsName(environment, agent, w.recs[0].Run, w.recs[len(w.recs)-1].Run, w.plan.programs(w.session, w.cell), number)
	}
	// A run that failed and is done again may find its file's name taken.
	number := 1
	for ; ; number++ {
		_, err := os.Stat(filepath.Join(w.dir, "runs", name(number)+".jsonl"))
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return fmt.Errorf("writing records: %w", err)
		}
	}
	err := result.WriteRecords(w.dir, name(number), w.recs)
	w.recs = w.recs[:0]
	return err
}

// slugs names components in names of files.
func slugs(list []Component) []string {
	var labels []string
	for _, c := range list {
		labels = append(labels, c.Name)
	}
	return result.Slugs(labels)
}

// jobs splits what is left to do into batches, cell by cell.
func (p *Plan) jobs(o Options, workers int) []job {
	var jobs []job
	for _, c := range p.Cells() {
		e, a := p.Environments[c.Environment], p.Agents[c.Agent]
		var left []int
		for run := range p.Config.Runs {
			if !o.Done[result.Key{Environment: e.Name, Agent: a.Name, Run: run}] {
				left = append(left, run)
			}
		}
		lanes := p.Config.Lanes
		if lanes == 0 {
			lanes = lanesInProcess
			if o.Remote != nil && (o.Remote(e) || o.Remote(a)) {
				lanes = lanesRemote
			}
			// Never so many that a worker has nothing to do.
			lanes = max(1, min(lanes, (len(left)+workers-1)/workers))
		}
		for runs := range slices.Chunk(left, lanes) {
			jobs = append(jobs, job{c, runs})
		}
	}
	return jobs
}

// Check opens every environment and agent of the plan once, with one lane, so
// that wrong parameters and unsuitable pairs are found before anything runs. It
// returns all problems, joined.
func (p *Plan) Check(ctx context.Context, open Opener) error {
	var problems []error
	b := &bench{plan: p, open: open}
	defer b.close()
	for _, c := range p.Cells() {
		b.at(c)
		_, err := b.instances(ctx, 1)
		if err != nil && !slices.ContainsFunc(problems, func(e error) bool { return e.Error() == err.Error() }) {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

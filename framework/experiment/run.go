package experiment

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

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
	// Done says which runs already have a record (Prepare returns it); they are
	// left out.
	Done Done
	// Event, if not nil, is told of progress. Calls never overlap.
	Event func(Event)
}

// Event is a piece of progress.
type Event struct {
	Cell Cell
	// Interactions made since the last event of the cell; negative when a batch
	// failed and will be replayed.
	Interactions int
	// Runs and Failed count records written since the last event of the cell.
	Runs, Failed int
}

// Done is the set of runs that have a record, by environment and agent label.
type Done map[[2]string]map[int]bool

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

// Run does every run of the plan that has no record yet and writes its record.
// It returns the context's cause if it was cancelled: then all records written
// so far are on disk and complete. A failed run is a record, not an error.
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
			for j := range queue {
				if err := p.work(ctx, b, j, o.Dir, event); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

func (p *Plan) work(ctx context.Context, b *bench, j job, dir string, event func(Event)) error {
	b.at(j.cell)
	recs, err := b.do(ctx, j.runs, 1)
	if len(recs) == 0 {
		return err
	}
	slices.SortFunc(recs, func(x, y result.Record) int { return x.Run - y.Run })
	name := fmt.Sprintf("%s.%s.%d-%d", p.fileName("e", j.cell.Environment, p.Environments), p.fileName("a", j.cell.Agent, p.Agents), recs[0].Run, recs[len(recs)-1].Run)
	if err := result.WriteRecords(filepath.Join(dir, runsDir), name, recs); err != nil {
		return err
	}
	e := Event{Cell: j.cell, Runs: len(recs)}
	for _, r := range recs {
		if r.Status == result.Failed {
			e.Failed++
		}
	}
	event(e)
	return err
}

// fileName is the component's slug; where two labels have the same one, its
// index tells them apart.
func (p *Plan) fileName(prefix string, i int, list []Component) string {
	slug := Slug(list[i].Name)
	for j := range list {
		if j != i && Slug(list[j].Name) == slug {
			return fmt.Sprintf("%s%d-%s", prefix, i, slug)
		}
	}
	return slug
}

// jobs splits what is left to do into batches, cell by cell.
func (p *Plan) jobs(o Options, workers int) []job {
	var jobs []job
	for _, c := range p.Cells() {
		e, a := p.Environments[c.Environment], p.Agents[c.Agent]
		done := o.Done[[2]string{e.Name, a.Name}]
		var left []int
		for run := range p.Config.Runs {
			if !done[run] {
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
		env, agent, err := b.instances(ctx, 1)
		if err != nil {
			if !slices.ContainsFunc(problems, func(e error) bool { return e.Error() == err.Error() }) {
				problems = append(problems, err)
			}
			continue
		}
		_ = env.Close()
		_ = agent.Close()
	}
	return errors.Join(problems...)
}

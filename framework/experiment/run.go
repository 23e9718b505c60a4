package experiment

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/result"
)

// Options are what running a plan needs from outside.
type Options struct {
	// Dir is the output directory, made by Prepare.
	Dir string
	// Agents is the output directory that receives saved agents. Default: Dir.
	Agents string
	// Open gives access to plugins.
	Open Opener
	// Remote says whether a component runs in a process of its own, which
	// decides how many lanes are stepped together.
	Remote func(Component) bool
	// Lanes says how many lanes a component's plugin prefers at most, 0 for any; nil:
	// any. A config that sets lanes comes first.
	Lanes func(Component) int
	// Done says which runs are done already (Prepare returns it); they are left
	// out.
	Done Done
	// Shard, if not zero, says which runs to do.
	Shard Shard
	// Recorded, if not nil, is told of records that are on disk. Calls may overlap.
	Recorded func([]result.Record) error
	// Session names the programs in records; with its zero value they name none.
	Session Session
	// Event, if not nil, is told of progress. Calls never overlap.
	Event func(Event)

	failures *failures
	answers  *answers
	live     *liveView
}

// Event reports the progress of a cell since its last event.
type Event struct {
	Cell Cell // environment and agent of the run
	// Interactions made since the last event of the cell; negative when a batch
	// failed and will be replayed.
	Interactions int
	// Runs counts runs that ended, and Failed those of them that failed or were given up, since the last event of the cell.
	Runs, Failed int
	// Reused counts runs that were recorded before the first event.
	Reused int
	// Notice, if not empty, is a sentence about a plugin that the user should read.
	Notice string
}

// Done is the set of runs that have an ok record.
type Done map[result.Key]bool

// job is runs of a cell.
type job struct {
	cell Cell
	runs []int
}

// Run does every run of the plan that is not done yet and writes its record. It
// returns the context's cause if it was cancelled: then the record of every run
// that had ended is on disk. A failed run is a record, not an error. If the config
// says until: decided, runs that no open comparison needs are not made.
func (p *Plan) Run(ctx context.Context, o Options) error {
	o.failures, o.answers = newFailures(p), &answers{}
	if s := p.Sequential(); s != nil && o.Shard.Of == 0 { // a shard makes the runs of a stage
		return p.runUntil(ctx, o, s)
	}
	return p.runAll(ctx, o)
}

func (p *Plan) runAll(ctx context.Context, o Options) error {
	workers := p.Config.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	jobs := p.jobs(o.Done, o.Shard)
	left := 0
	for _, j := range jobs {
		left += len(j.runs)
	}
	workers = max(1, min(workers, left))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := &batches{workers: workers, fixed: p.Config.Lanes, jobs: jobs, sizes: map[Cell]*batchSizer{}}
	remote := func(c Cell) bool {
		return o.Remote != nil && (o.Remote(p.Environments[c.Environment]) || o.Remote(p.Agents[c.Agent]))
	}
	queue.size = func(c Cell) *batchSizer {
		preferred := 0
		for _, component := range []Component{p.Environments[c.Environment], p.Agents[c.Agent]} {
			if o.Lanes == nil {
				break
			}
			if n := o.Lanes(component); n > 0 && (preferred == 0 || n < preferred) {
				preferred = n
			}
		}
		return newBatchSizer(remote(c), preferred, p.Config.Steps)
	}
	var mu sync.Mutex
	event := func(e Event) {
		if o.Event != nil {
			mu.Lock()
			defer mu.Unlock()
			o.Event(e)
		}
	}
	w := &writer{plan: p, dir: o.Dir, shard: o.Shard, session: &o.Session, event: event, fail: cancel, recorded: o.Recorded}
	identities := p.identities()
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			worker := &worker{plan: p, open: o.Open, failures: o.failures, answers: o.answers, live: o.live}
			worker.keep = func(c Cell, id string, spec framework.Spec, run int, s *loop.Snapshot) error {
				err := p.writeAgent(cmp.Or(o.Agents, o.Dir), &o.Session, c, identities[p.key(c)], id, spec, run, s)
				if err != nil {
					cancel(err)
				}
				return err
			}
			worker.unchanged = func(c Component) error {
				err := o.Session.unchanged(c)
				if err != nil {
					cancel(err)
				}
				return err
			}
			worker.notify = func(n int) { event(Event{Cell: worker.cell, Interactions: n}) }
			worker.notice = func(text string) { event(Event{Cell: worker.cell, Notice: text}) }
			defer worker.close()
			worker.ended = func(recs ...result.Record) { w.add(worker.cell, recs...) }
			for first := true; ctx.Err() == nil; first = false {
				j, ok := queue.next()
				if !ok {
					break
				}
				if !first && j.cell != worker.cell {
					if err := w.flush(); err != nil { // of a cell that ends
						cancel(err)
						break
					}
				}
				worker.at(j.cell)
				worker.remote = remote(j.cell)
				began := time.Now()
				if err := worker.runBatch(ctx, j.runs, p.retries(j.cell)); err != nil {
					cancel(err)
					break
				}
				queue.ended(j, time.Since(began))
			}
		})
	}
	wg.Wait()
	err := w.flush()
	cause := context.Cause(ctx)
	if cause == nil || err != nil && cause != err {
		return errors.Join(cause, err) // an interrupted experiment may also lose records
	}
	return cause
}

// jobs lists the runs of a shard that are left to do, cell by cell.
func (p *Plan) jobs(done Done, shard Shard) []job {
	var jobs []job
	for i, c := range p.Cells() {
		key := p.key(c)
		left := shard.runs(i*p.Config.Runs, 0, p.Config.Runs-1)
		if len(done) > 0 {
			left = slices.DeleteFunc(left, func(run int) bool { key.Run = run; return done[key] })
		}
		if len(left) > 0 {
			jobs = append(jobs, job{c, left})
		}
	}
	return jobs
}

// key names run 0 of a cell.
func (p *Plan) key(c Cell) result.Key {
	return result.Key{Environment: p.Environments[c.Environment].Name, Agent: p.Agents[c.Agent].Name}
}

package experiment

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"

	"github.com/rlrun/rlrun/framework"
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
	// Recorded, if not nil, is called with records that are on disk. Calls may overlap.
	Recorded func([]result.Record) error
	// Session names the programs in records; with its zero value they name none.
	Session Session
	// Event, if not nil, is called with progress. Calls never overlap.
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
	// Runs counts runs that ended, and Failed those of them that failed or were given up, since the
	// last event of the cell.
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
	queue.size = func(c Cell) *batchSizer { return newBatchSizer(o.remote(p, c), o.preferred(p, c), p.Config.Steps) }
	x := &execution{Options: o, plan: p, identities: p.identities(), stop: cancel}
	x.writer = &writer{plan: p, dir: o.Dir, shard: o.Shard, session: &x.Session, event: x.event, fail: cancel, recorded: o.Recorded}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			worker := &worker{execution: x}
			defer worker.close()
			if err := worker.work(ctx, queue); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	err := x.writer.flush()
	cause := context.Cause(ctx)
	if cause == nil || err != nil && cause != err {
		return errors.Join(cause, err) // an interrupted experiment may also lose records
	}
	return cause
}

// remote says whether the environment or the agent of a cell runs in a process of its own.
func (o *Options) remote(p *Plan, c Cell) bool {
	return o.Remote != nil && (o.Remote(p.Environments[c.Environment]) || o.Remote(p.Agents[c.Agent]))
}

// preferred is the number of lanes that suits both plugins of a cell, at most; 0: any.
func (o *Options) preferred(p *Plan, c Cell) (lanes int) {
	if o.Lanes == nil {
		return 0
	}
	for _, component := range []Component{p.Environments[c.Environment], p.Agents[c.Agent]} {
		if n := o.Lanes(component); n > 0 && (lanes == 0 || n < lanes) {
			lanes = n
		}
	}
	return lanes
}

// execution is a plan under way: what its workers share.
type execution struct {
	Options
	plan       *Plan
	writer     *writer                 // of records; nil if none are kept
	identities map[result.Key]string   // of the agents that are kept
	stop       context.CancelCauseFunc // ends all workers
	mu         sync.Mutex              // held while Event is called
	specs      map[int]framework.Spec  // of environments, as first opened
}

func (x *execution) event(e Event) {
	if x.Event != nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.Event(e)
	}
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

// labels are the names of components.
func labels(list []Component) (names []string) {
	for _, c := range list {
		names = append(names, c.Name)
	}
	return names
}

// key names run 0 of a cell.
func (p *Plan) key(c Cell) result.Key {
	return result.Key{Environment: p.Environments[c.Environment].Name, Agent: p.Agents[c.Agent].Name}
}

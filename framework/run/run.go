package run

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/internal/cputime"
)

// Settings say how the runs of an experiment are made.
type Settings struct {
	Command []string  // the command line, for the provenance
	Started time.Time // when it began
	Mixed   bool      // accept runs that other programs made, and another number of shards
	// Event, if not nil, is called with progress, first with the runs that are recorded
	// already. Calls never overlap.
	Event func(Event)
	// Watch, if not nil, is called every few seconds with the records of unfinished runs so
	// far, and with those of runs that have ended. Curves of unfinished runs are shorter than the
	// grid, and end where they may still change. Calls never overlap.
	Watch func([]result.Record)
}

// Event reports the progress of a cell since its last event.
type Event struct {
	Cell plan.Cell // environment and agent of the run
	// Interactions made since the last event of the cell; negative when a batch
	// failed and will be replayed.
	Interactions int
	// Units are the part of the runs' budget that these made: see loop.Work.
	Units int
	// Runs counts runs that ended, and Failed those of them that failed or were given up, since the
	// last event of the cell.
	Runs, Failed int
	// Reused counts runs that were recorded before the first event.
	Reused int
	// Notice, if not empty, is a sentence about a plugin that the user should read.
	Notice string
	// Choice, if not empty, says how the runs of the cell are divided, and why.
	Choice string
}

// job is runs of a cell.
type job struct {
	cell plan.Cell
	runs []int
}

// Run makes the runs of a checked experiment that have no ok record yet, alone in the
// output directory; existing says what to do about what is there. It returns the context's
// cause if it was cancelled: then the record of every run that had ended is on disk. A
// failed run is a record, not an error. If the config says until: decided, runs that no open
// comparison needs are not made. An error of preparing the output directory is an
// *OutputError.
func (x *Runner) Run(ctx context.Context, existing store.Existing, o Settings) error {
	session, err := x.NewSession(o.Command, o.Started, o.Mixed)
	if err != nil {
		return err
	}
	done, err := x.Begin(ctx, session, existing)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return x.Dir.Error(err)
	}
	b := x.begin(session, done, plan.Shard{}, o)
	defer b.live.close()
	b.event(Event{Reused: done.Count()})
	return b.run(ctx)
}

// execution is the runs of an experiment under way: what its workers share.
type execution struct {
	plan     *plan.Plan
	warm     store.WarmStarts
	open     Opener
	pairs    Pairs                              // opens environment and agent together; nil: they have a process each
	remote   func(plan.Component) bool          // nil: none runs in a process of its own
	lanes    func(plan.Component) int           // that its plugin prefers at most, 0 for any; nil: any
	starts   func(plan.Component) time.Duration // how long its plugin took to start; nil: no time
	session  *store.Session                     // names the programs in records
	declared *store.Declared                    // metrics, before the runs; nil: there are none, or nobody has asked
	done     store.Done                         // runs that are not to be made
	trust    bool                               // checkpoints that are pickles are read
	pickled  []string                           // agents whose states are pickles
	shard    plan.Shard                         // if not zero, says which runs to make
	dir      store.Dir                          // of records
	agents   store.Dir                          // of saved agents
	recorded func([]result.Record)              // if not nil, called with records that are on disk; calls may overlap
	progress func(Event)                        // nil: nobody is told

	live       *liveView
	writer     *store.Writer         // of records; nil if none are kept
	identities map[result.Key]string // of the agents that are kept
	failures   *failures
	answers    *answers
	stop       context.CancelCauseFunc // ends all workers
	mu         sync.Mutex              // held while progress is called
	specs      map[int]framework.Spec  // of environments, as first opened
	shares     map[string]bool         // processKeys of plugins of which it was told that their runs share a generator
	costs      store.Costs             // of runs that ended well; nil if they are not measured
	processor  string                  // model
	workers    int
}

// begin returns the runs of a shard that are left, and keeps the plugins open that the first
// of them needs.
func (x *Runner) begin(session *store.Session, done store.Done, shard plan.Shard, o Settings) *execution {
	if left := jobs(x.Plan, done, shard); len(left) > 0 {
		first := left[0].cell
		agent := x.Plan.Agents[first.Agent]
		x.pool.retain(append(agent.Parts(), x.Plan.Environments[first.Environment], agent)...)
	} else {
		x.pool.retain()
	}
	var pairs Pairs
	if x.Plan.Config.Colocate == plan.Together {
		pairs, _ = x.plugins.(Pairs)
		x.pool.retain()
	}
	var declared *store.Declared
	if len(x.Declared.Environment)+len(x.Declared.Agent) > 0 {
		declared = new(x.Declared.Clone())
	}
	return &execution{
		plan: x.Plan, warm: x.warm, open: x.pool.open, pairs: pairs, remote: x.remote, lanes: x.preferredLanes, starts: x.pool.started,
		session: session, declared: declared, done: done, trust: x.Trust, pickled: x.Pickled, shard: shard, dir: x.Dir, agents: x.Dir, progress: o.Event,
		live: newLive(x.Plan, x.Dir.LiveFile(shard), o.Watch), identities: x.Plan.Identities(), failures: newFailures(x.Plan), answers: &answers{},
		costs: store.Costs{}, processor: cputime.Processor(),
	}
}

// run makes the runs; those of a shard are the runs of a stage.
func (x *execution) run(ctx context.Context) error {
	if x.shard.Of == 0 && x.plan.Sequential() != nil {
		return x.runUntil(ctx)
	}
	return x.runAll(ctx)
}

// runUntil makes the runs that the test which stops the experiment needs, block by block. A
// run that failed is not tried again, also with --resume: it may have been looked at.
func (x *execution) runUntil(ctx context.Context) error {
	for {
		decision, err := x.dir.Decide(x.plan)
		if err != nil {
			return err
		}
		x.done = store.Done{}
		for _, c := range x.plan.Cells {
			key := x.plan.Key(c)
			most := decision.Needed[key]
			for key.Run = range x.plan.Config.Runs {
				x.done[key] = decision.Recorded[key] || key.Run >= most
			}
		}
		if len(jobs(x.plan, x.done, x.shard)) == 0 {
			return nil
		}
		if err := x.runAll(ctx); err != nil {
			return err
		}
	}
}

func (x *execution) runAll(ctx context.Context) error {
	workers := x.plan.Config.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	jobs := jobs(x.plan, x.done, x.shard)
	left := 0
	for _, j := range jobs {
		left += len(j.runs)
	}
	workers = max(1, min(workers, left))
	x.workers = workers
	ctx, x.stop = context.WithCancelCause(ctx)
	defer x.stop(nil)
	queue := newBatches(jobs, workers, x.plan.Config.Lanes, x.plan.Config.Workers == 0, func(c plan.Cell) *batchSizer {
		return newBatchSizer(x.isRemote(c), x.preferred(c), x.plan.Config.Steps)
	})
	x.writer = x.dir.NewWriter(x.plan, x.shard, x.session, x.stop, x.recorded)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			worker := &worker{execution: x}
			defer worker.close()
			if err := worker.work(ctx, queue); err != nil {
				x.stop(err)
			}
		})
	}
	wg.Wait()
	err := x.writer.Flush()
	x.keepCosts()
	cause := context.Cause(ctx)
	if cause == nil || err != nil && cause != err {
		return errors.Join(cause, err) // an interrupted experiment may also lose records
	}
	return cause
}

// isRemote says whether the environment or the agent of a cell runs in a process of its own.
func (x *execution) isRemote(c plan.Cell) bool {
	a := x.plan.Agents[c.Agent]
	return x.remote != nil && slices.ContainsFunc(append(a.Parts(), x.plan.Environments[c.Environment], a), x.remote)
}

// preferred is the number of runs at a time that suits both plugins of a cell, at most; 0: any.
func (x *execution) preferred(c plan.Cell) (lanes int) {
	if x.lanes == nil {
		return 0
	}
	for _, component := range []plan.Component{x.plan.Environments[c.Environment], x.plan.Agents[c.Agent]} {
		if n := x.lanes(component); n > 0 && (lanes == 0 || n < lanes) {
			lanes = n
		}
	}
	if actors := x.plan.Agents[c.Agent].Lanes(); actors > 1 {
		return max(cmp.Or(lanes, lanesRemote)/actors, 1)
	}
	return lanes
}

func (x *execution) event(e Event) {
	if x.progress != nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.progress(e)
	}
}

// jobs lists the runs of a shard that are left to do, cell by cell.
func jobs(p *plan.Plan, done store.Done, shard plan.Shard) []job {
	var jobs []job
	for i, c := range p.Cells {
		key := p.Key(c)
		left := shard.Runs(i*p.Config.Runs, 0, p.Config.Runs-1)
		if len(done) > 0 {
			left = slices.DeleteFunc(left, func(run int) bool { key.Run = run; return done[key] })
		}
		if len(left) > 0 {
			jobs = append(jobs, job{c, left})
		}
	}
	return jobs
}

// remote says whether a component runs in a process of its own.
func (x *Runner) remote(c plan.Component) bool {
	remote, err := x.plugins.Remote(c)
	return err == nil && remote
}

// preferredLanes is the number of lanes that suits a component, at most; 0 for any.
func (x *Runner) preferredLanes(c plan.Component) int {
	prefers, widest := x.lanes[processKey(c)], x.widest[c.Name]
	if prefers == 0 || widest > 0 && widest < prefers {
		return widest
	}
	return prefers
}

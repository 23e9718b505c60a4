package experiment

import (
	"context"
	"errors"
	"time"
)

// Executor does the runs of an experiment and writes their records. It claims the
// output directory until Experiment.Close.
type Executor interface {
	// Execute does the runs of a checked experiment that have no record yet. It returns
	// the context's cause if that was cancelled.
	Execute(ctx context.Context, x *Experiment) error
}

// Execute does the runs of a checked experiment that have no record yet. It returns
// the context's cause if that was cancelled: the record of every run that had ended
// is on disk then.
func (x *Experiment) Execute(ctx context.Context, e Executor) error { return e.Execute(ctx, x) }

// Local executes an experiment on this machine, alone in its output directory.
type Local struct {
	Command []string  // the command line, for provenance.json
	Started time.Time // when it began
	// Existing says what to do about what is in the output directory, and Mixed
	// whether its runs may be of other programs.
	Existing Existing
	Mixed    bool // accept runs that other programs made
	// Event, if not nil, is called with progress, first with the runs that are recorded
	// already. Calls never overlap.
	Event func(Event)
}

// Execute implements Executor. An error of preparing the output directory is an
// *OutputError.
func (l Local) Execute(ctx context.Context, x *Experiment) error {
	session, err := x.session(l.Command, l.Started, l.Mixed)
	if err != nil {
		return err
	}
	done, err := l.prepare(ctx, x, session)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return &OutputError{x.Dir, err}
	}
	o := Options{Dir: x.Dir, Open: x.pool.open, Remote: x.remote, Lanes: x.preferredLanes, Done: done, Session: session, Event: l.Event,
		live: x.Plan.newLive(x.Dir, "run.json")}
	defer o.live.close()
	x.retainFirst(done, o.Shard)
	if l.Event != nil {
		l.Event(Event{Reused: done.count()})
	}
	return x.Plan.Run(ctx, o)
}

// session describes this command and the experiment's programs.
func (x *Experiment) session(command []string, started time.Time, mixed bool) (Session, error) {
	session, err := NewSession(x.Plan, command, started)
	if err != nil {
		return session, err
	}
	session.Mixed, session.Skipped, session.Notes = mixed, x.Plan.Skipped(), x.Plan.notes
	for _, program := range x.Programs {
		session.AddPlugin(program)
	}
	return session, nil
}

// retainFirst keeps the plugins open that the first job needs.
func (x *Experiment) retainFirst(done Done, shard Shard) {
	if jobs := x.Plan.jobs(done, shard); len(jobs) > 0 {
		first := jobs[0].cell
		x.pool.retain(x.Plan.Environments[first.Environment], x.Plan.Agents[first.Agent])
	} else {
		x.pool.retain()
	}
}

// prepare claims the output directory and says which runs are recorded in it.
func (l Local) prepare(ctx context.Context, x *Experiment, session Session) (done Done, err error) {
	if x.release, err = Lock(x.Dir); err != nil {
		return nil, err
	}
	if l.Existing == Overwrite {
		if err := clearOutput(x.Dir); err != nil {
			return nil, err
		}
	}
	if done, err = x.Plan.Prepare(ctx, x.Dir, l.Existing == Resume, session); err != nil {
		return nil, err
	}
	return done, errors.Join(x.writeTasks(), x.writeDeclared())
}

// remote says whether a component runs in a process of its own.
func (x *Experiment) remote(c Component) bool {
	remote, err := x.plugins.Remote(c)
	return err == nil && remote
}

// preferredLanes is the number of lanes that a component's plugin prefers at most; 0
// for any.
func (x *Experiment) preferredLanes(c Component) int { return x.lanes[c.key()] }

// count returns the number of runs that are done.
func (d Done) count() (n int) {
	for _, ok := range d {
		if ok {
			n++
		}
	}
	return n
}

package run

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"
)

// ShardSettings say how the runs of a shard are made.
type ShardSettings struct {
	Settings
	Job string // of a scheduler, for the provenance
	// Waiting, if not nil, is called with the holder of a lock that the shard needs.
	Waiting func(held error)
	// Status, if not nil, receives how far the shard is.
	Status *store.ShardStatus
}

// RunShard makes the runs of one shard of a checked experiment that have no ok record yet.
// Processes on several machines may make shards in one output directory at the same time,
// each several times if needed. It makes no outputs. Errors of preparing the output
// directory are *OutputErrors.
func (x *Runner) RunShard(ctx context.Context, shard plan.Shard, o ShardSettings) error {
	session, err := x.NewSession(o.Command, o.Started, o.Mixed)
	if err != nil {
		return err
	}
	session.Job = o.Job
	session.Host, _ = os.Hostname() // for people
	r := newShardRun(x, shard, &o, session)
	b, err := r.begin(ctx, session)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, store.ErrShardInUse) || errors.Is(err, store.ErrInUse) {
		return err
	}
	if err != nil {
		return x.Dir.Error(err)
	}
	defer b.live.close()
	b.event(Event{Reused: r.status.Reused})
	return r.end(b.run(ctx))
}

// shardRun keeps account of a shard that is being done.
type shardRun struct {
	o     *ShardSettings
	x     *Runner
	shard plan.Shard

	mu     sync.Mutex
	status store.ShardStatus
	steps  int64
	units  int64 // of the budget: see loop.Work
	began  time.Time
}

func newShardRun(x *Runner, shard plan.Shard, o *ShardSettings, session *store.Session) *shardRun {
	return &shardRun{o: o, x: x, shard: shard, began: time.Now(), status: store.ShardStatus{
		Shard: shard.Index, Of: shard.Of, Host: session.Host, Job: o.Job, Process: os.Getpid(),
	}}
}

// begin prepares the output directory.
func (r *shardRun) begin(ctx context.Context, session *store.Session) (*execution, error) {
	x := r.x
	done, err := x.BeginShard(ctx, session, r.shard, r.o.Waiting)
	if err != nil {
		return nil, err
	}
	if done, err = r.found(done); err != nil {
		return nil, err
	}
	settings := r.o.Settings
	settings.Event = r.event
	b := x.begin(session, done, r.shard, settings)
	b.recorded = r.recorded
	if len(jobs(x.Plan, done, r.shard)) > 0 {
		if err := x.Dir.RemoveMade(x.Plan); err != nil {
			return nil, err
		}
	}
	return b, r.write(store.ShardRunning)
}

// found counts the runs of the shard, and those that are done already. It returns the
// runs that are not to be made. Where a test stops the experiment, these include runs of
// later stages and runs that failed, as the test may have looked at them.
func (r *shardRun) found(done store.Done) (store.Done, error) {
	p := r.x.Plan
	stage, err := r.x.Dir.StageRuns(p)
	if err != nil {
		return nil, err
	}
	staged := p.Sequential() != nil
	skip := store.Done{}
	for i, c := range p.Cells {
		key := p.Key(c)
		n := stage(key)
		for _, key.Run = range r.shard.Runs(i*p.Config.Runs, 0, p.Config.Runs-1) {
			ok, recorded := done[key]
			skip[key] = ok || staged && (recorded || key.Run >= n)
			switch {
			case key.Run >= n:
				continue
			case ok:
				r.status.Reused++
			case recorded && staged:
				r.status.Failed++
			}
			r.status.Runs++
		}
	}
	r.status.OK = r.status.Reused
	return skip, nil
}

func (r *shardRun) event(e Event) {
	r.mu.Lock()
	r.steps, r.units = r.steps+int64(e.Interactions), r.units+int64(e.Units)
	r.mu.Unlock()
	if r.o.Event != nil {
		r.o.Event(e)
	}
}

// recorded counts records that are on disk.
func (r *shardRun) recorded(recs []result.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range recs {
		if recs[i].Status == result.OK {
			r.status.OK++
		} else {
			r.status.Failed++
		}
	}
	_ = r.write(store.ShardRunning) // for people: records alone count
}

// write writes the shard's status.
func (r *shardRun) write(state string) error {
	s := &r.status
	s.State, s.Updated, s.Seconds = state, time.Now().UTC(), time.Since(r.began).Seconds()
	s.StepsPerSecond = float64(r.steps) / max(s.Seconds, 1e-3)
	s.SecondsLeft = 0
	if left := int64(s.Runs-s.Reused)*int64(r.x.Plan.Config.Budget()) - r.units; left > 0 && r.units > 0 {
		s.SecondsLeft = s.Seconds * float64(left) / float64(r.units)
	}
	if r.o.Status != nil {
		*r.o.Status = *s
	}
	return r.x.Dir.Report(s)
}

// end writes the last status and returns err, the reason why runs are left.
func (r *shardRun) end(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.status.Left() == 0 {
		_ = r.write(store.ShardDone)
		return nil
	}
	_ = r.write(store.ShardStopped)
	return err
}

package store

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlrun/rlrun/framework/internal/disk"
	"github.com/rlrun/rlrun/framework/internal/plantest"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/must"
)

// Runs that ended are on disk within two seconds, although no other run ends.
func TestRecordsAreWrittenInTime(t *testing.T) {
	dir, p := t.TempDir(), plantest.Compile(t, nil)
	synctest.Test(t, func(t *testing.T) {
		w := Dir{Path: dir}.NewWriter(p, plan.Shard{}, &Session{}, func(err error) { t.Error(err) }, nil)
		for run := range 2 {
			w.Add(plan.Cell{Environment: 0, Agent: 1}, result.Record{Environment: "coin", Agent: "two", Run: run, Status: result.OK})
			time.Sleep(100 * time.Millisecond)
		}
		if n := len(must.Get(result.ReadKeys(dir))(t)); n != 0 {
			t.Errorf("%d records after 0.2 s", n)
		}
		time.Sleep(2*time.Second - 200*time.Millisecond)
		synctest.Wait()
		if n := len(must.Get(result.ReadKeys(dir))(t)); n != 2 {
			t.Errorf("%d records after 2 s", n)
		}
		if err := w.Flush(); err != nil {
			t.Error(err)
		}
	})
}

// Where runs end faster than the disk writes, workers wait: memory does not grow.
func TestManyRecordsAreWrittenAtOnce(t *testing.T) {
	dir := t.TempDir()
	w := Dir{Path: dir}.NewWriter(plantest.Compile(t, nil), plan.Shard{}, &Session{}, func(err error) { t.Error(err) }, nil)
	long := map[result.Metric][]float64{result.Reward: make([]float64, manyHeld/20)}
	for run := range 7 {
		w.Add(plan.Cell{Environment: 0, Agent: 1}, result.Record{Environment: "coin", Agent: "two", Run: run, Status: result.OK, Curves: long})
		if n := len(w.recs[plan.Cell{Environment: 0, Agent: 1}]); w.held > manyHeld || n > 2 {
			t.Errorf("after run %d, %d records wait, of %d bytes", run, n, w.held)
		}
	}
	if names, err := result.RecordFiles(dir); err != nil || len(names) == 0 {
		t.Errorf("files %v, error %v", names, err)
	}
	if err := w.Flush(); err != nil {
		t.Error(err)
	}
}

// unwritable is a file system on which no file can be made.
type unwritable struct{ disk.OS }

func (unwritable) CreateTemp(string) (disk.File, error) {
	return nil, &fs.PathError{Op: "open", Path: "x", Err: errors.New("stale file handle")}
}

// An error of a write by the timer is told.
func TestTimerTells(t *testing.T) {
	dir, p := Dir{Path: t.TempDir(), Disk: unwritable{}}, plantest.Compile(t, nil)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		w := dir.NewWriter(p, plan.Shard{}, &Session{}, cancel, nil)
		w.Add(plan.Cell{}, result.Record{})
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if context.Cause(ctx) == nil {
			t.Error("the timer failed in silence")
		}
	})
}

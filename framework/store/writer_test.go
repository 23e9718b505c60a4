package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
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

// Records of many short cells share a file, in which they keep their order.
func TestManyCellsShareAFile(t *testing.T) {
	p := plantest.Compile(t, func(c *plan.Config) {
		for i := range fewCells {
			c.Agents = append(c.Agents, plan.Component{Name: fmt.Sprint("more", i), Plugin: "alternate"})
		}
	})
	for _, cells := range []int{fewCells, fewCells + 1} {
		dir, counted := t.TempDir(), 0
		w := Dir{Path: dir}.NewWriter(p, plan.Shard{Index: 1, Of: 3}, &Session{}, nil, func(recs []result.Record) { counted += len(recs) })
		for run := range 2 {
			for agent := range cells {
				w.Add(plan.Cell{Agent: agent}, result.Record{Environment: "coin", Agent: p.Agents[agent].Name, Run: 1 - run, Status: result.OK})
			}
		}
		must.Do(t, w.Flush())
		files, keys := must.Get(result.RecordFiles(dir))(t), must.Get(result.ReadKeys(dir))(t)
		if len(keys) != 2*cells || counted != len(keys) {
			t.Errorf("%d cells: %d records, %d told", cells, len(keys), counted)
		}
		switch {
		case cells == fewCells && len(files) != cells:
			t.Errorf("%d cells: %v", cells, files)
		case cells > fewCells && (len(files) != 1 || filepath.Base(files[0]) != "coin.several.0-1.s1-3.jsonl"):
			t.Errorf("%d cells: %v", cells, files)
		}
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

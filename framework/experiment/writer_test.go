package experiment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlrun/rlrun/framework/internal/disk"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// Runs that ended are on disk within two seconds, although no other run ends.
func TestRecordsAreWrittenInTime(t *testing.T) {
	dir, p := t.TempDir(), compiled(t, nil)
	synctest.Test(t, func(t *testing.T) {
		w := Dir{Path: dir}.NewWriter(p, Shard{}, &Session{}, func(err error) { t.Error(err) }, nil)
		for run := range 2 {
			w.Add(Cell{0, 1}, result.Record{Environment: "coin", Agent: "two", Run: run, Status: result.OK})
			time.Sleep(100 * time.Millisecond)
		}
		if n := len(records(t, dir)); n != 0 {
			t.Errorf("%d records after 0.2 s", n)
		}
		time.Sleep(2*time.Second - 200*time.Millisecond)
		synctest.Wait()
		if n := len(records(t, dir)); n != 2 {
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
	w := Dir{Path: dir}.NewWriter(compiled(t, nil), Shard{}, &Session{}, func(err error) { t.Error(err) }, nil)
	long := map[result.Metric][]float64{result.Reward: make([]float64, manyHeld/20)}
	for run := range 7 {
		w.Add(Cell{0, 1}, result.Record{Environment: "coin", Agent: "two", Run: run, Status: result.OK, Curves: long})
		if n := len(w.recs[Cell{0, 1}]); w.held > manyHeld || n > 2 {
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

// broken is a file system on which no file can be made.
type broken struct{ disk.OS }

func (broken) CreateTemp(string) (disk.File, error) {
	return nil, &fs.PathError{Op: "open", Path: "x", Err: errors.New("stale file handle")}
}

// A directory that cannot be written to ends the experiment with the reason, whether
// the timer or a worker writes.
func TestUnwritableRecordsEndTheExperiment(t *testing.T) {
	p := compiled(t, nil)
	err := runPlan(t.Context(), p, runOptions{Dir: t.TempDir(), Disk: broken{}, Open: opener(nil)})
	if err == nil || !strings.Contains(err.Error(), "stale file handle") {
		t.Errorf("got %v", err)
	}
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "runs"), nil, 0o600))
	err = runPlan(t.Context(), compiled(t, nil), runOptions{Dir: dir, Open: opener(nil)})
	if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "runs")) {
		t.Errorf("runs is a file: %v", err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		w := Dir{Path: dir}.NewWriter(p, Shard{}, &Session{}, cancel, nil)
		w.Add(Cell{}, result.Record{})
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if context.Cause(ctx) == nil {
			t.Error("the timer failed in silence")
		}
	})
}

// full is a file system on which no file can be made while a process has too many open.
type full struct {
	disk.OS
	files *atomic.Bool
}

func (f full) CreateTemp(name string) (disk.File, error) {
	if f.files.Load() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EMFILE}
	}
	return f.OS.CreateTemp(name)
}

// Records that cannot be written while too many files are open are written at the end,
// when those of the workers are closed.
func TestRecordsSurviveTooManyOpenFiles(t *testing.T) {
	p, dir := compiled(t, func(c *Config) { c.Lanes, c.Workers = 1, 1 }), t.TempDir()
	var files atomic.Bool
	files.Store(true)
	err := runPlan(t.Context(), p, runOptions{Dir: dir, Disk: full{files: &files}, Open: func(ctx context.Context, c Component) (vector.Plugin, func() error, error) {
		plugin, _, err := opener(nil)(ctx, c)
		return plugin, func() error { files.Store(false); return nil }, err
	}})
	if !errors.Is(err, syscall.EMFILE) {
		t.Errorf("got %v", err)
	}
	if n := len(records(t, dir)); n != 23 {
		t.Errorf("of the 23 runs of the first agent, which had ended, %d have records", n)
	}
}

// A plugin that cannot be started since too many files are open is no fault of its runs:
// the experiment ends, and no run counts as failed.
func TestTooManyOpenFilesFailNoRun(t *testing.T) {
	p, dir := compiled(t, func(c *Config) { c.Workers = 1 }), t.TempDir()
	done := do(t, p, t.TempDir(), false, opener(nil))
	err := runPlan(t.Context(), p, runOptions{Dir: dir, Open: func(ctx context.Context, c Component) (vector.Plugin, func() error, error) {
		if c.Name == "two" {
			return nil, nil, fmt.Errorf("cannot start it: %w", &os.SyscallError{Syscall: "pipe2", Err: syscall.EMFILE})
		}
		return opener(nil)(ctx, c)
	}})
	if !errors.Is(err, syscall.EMFILE) {
		t.Errorf("got %v", err)
	}
	got := records(t, dir)
	if len(got) != 23 {
		t.Errorf("%d records, 23 runs had ended", len(got))
	}
	for key, r := range got {
		if r != done[key] {
			t.Errorf("%v: %s, and otherwise %s", key, r, done[key])
		}
	}
}

// While a batch that failed is done again in parts, the parts that are done are
// kept, whatever stops the rest.
func TestPartsOfABatchAreKept(t *testing.T) {
	p, dir := compiled(t, func(c *Config) { c.Lanes, c.Workers, c.Agents = 23, 1, c.Agents[:1] }), t.TempDir()
	ctx, cancel := context.WithCancelCause(t.Context())
	var calls atomic.Int64
	err := runPlan(ctx, p, runOptions{Dir: dir, Open: opener(func(call int, seeds []uint64) error {
		if len(seeds) > 15 {
			return errors.New("too many lanes") // always: the batch is halved
		}
		if calls.Add(1) > 80 { // in the second half
			cancel(errors.New("power off"))
		}
		return nil
	})})
	if err == nil || err.Error() != "power off" {
		t.Fatalf("ended with %v", err)
	}
	if n := len(records(t, dir)); n != 11 {
		t.Errorf("%d records are kept, want 11", n)
	}
}

// The number of lanes follows what a batch costs, so that it takes about batchTime
// and never leaves a worker without work.
func TestBatchSizes(t *testing.T) {
	for name, tt := range map[string]struct {
		remote          bool
		steps           int
		fixed, perLane  time.Duration // of a batch
		least, greatest int           // lanes in the end
	}{
		"cheap":            {true, 1000, 100 * time.Millisecond, time.Millisecond, 1024, 1024},
		"expensive":        {true, 1000, 100 * time.Millisecond, time.Second, 15, 60},
		"slow calls":       {true, 100_000, 60 * time.Second, 10 * time.Millisecond, 1024, 1024},
		"hours":            {true, 1_000_000, time.Minute, time.Hour, 1, 2},
		"in process":       {false, 1000, 0, time.Millisecond, 4, 4},
		"hours in process": {false, 1_000_000, 0, time.Hour, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newBatchSizer(tt.remote, 0, tt.steps)
			for range 20 {
				s.measure(s.lanes, tt.fixed+time.Duration(s.lanes)*tt.perLane)
			}
			if s.lanes < tt.least || s.lanes > tt.greatest {
				t.Errorf("%d lanes, want %d to %d", s.lanes, tt.least, tt.greatest)
			}
		})
	}
	if s := newBatchSizer(true, 8, 1000); s.most != 8 || s.lanes != 8 {
		t.Errorf("%+v, where plugins prefer 8 lanes", s)
	}
	runs := make([]int, 100)
	for i := range runs {
		runs[i] = i
	}
	b := &batches{workers: 3, jobs: []job{{Cell{}, runs}, {Cell{0, 1}, runs[:1]}}, sizes: map[Cell]*batchSizer{},
		size: func(Cell) *batchSizer { return newBatchSizer(true, 0, 10) }}
	var got []int
	for j, ok := b.next(); ok; j, ok = b.next() {
		if len(j.runs) > 34 {
			t.Errorf("%d of 100 runs in a batch for 3 workers", len(j.runs))
		}
		got = append(got, j.runs...)
	}
	if len(got) != 101 || got[0] != 0 || got[99] != 99 || got[100] != 0 {
		t.Errorf("handed out %v", got)
	}
}

// Another experiment is refused in one line before anything is written.
func TestResumeRefusesAnotherExperiment(t *testing.T) {
	s := Session{Started: time.Unix(1, 0), Seed: 1}
	begin := func(t *testing.T) string {
		dir := t.TempDir()
		must.Do(t, doAs(t, compiled(t, nil), dir, false, s))
		return dir
	}
	for name, tt := range map[string]struct {
		change func(t *testing.T, dir string)
		runs   int
		want   string
		is     error
	}{
		"no config": {func(t *testing.T, dir string) { must.Do(t, os.Remove(filepath.Join(dir, ConfigFile))) }, 23, "no experiment.yaml", ErrOtherExperiment},
		"another seed": {func(t *testing.T, dir string) {
			p := compiled(t, func(c *Config) { c.Seed = new(uint64(2)) })
			must.Do(t, Dir{Path: dir}.write(ConfigFile, must.Get(p.Config.YAML())(t)))
		}, 23, "seed 2", ErrOtherExperiment},
		"fewer runs": {nil, 5, "ask for 23 runs or more", ErrOtherExperiment},
		"record of other steps": {func(t *testing.T, dir string) {
			bad := []result.Record{{Environment: "coin", Agent: "one", Run: 23, Status: result.OK, Steps: 7}}
			must.Do(t, result.WriteRecords(dir, "bad", bad))
		}, 24, "bad.jsonl:1 ", result.ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			dir := begin(t)
			if tt.change != nil {
				tt.change(t, dir)
			}
			_, err := prepare(t, compiled(t, func(c *Config) { c.Runs = tt.runs }), dir, true, s)
			if !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v", err)
			}
			if name == "another seed" {
				if _, err := (Dir{Path: dir}).Read(); !errors.Is(err, ErrOtherExperiment) {
					t.Errorf("Read: %v", err)
				}
			}
		})
	}
	dir := begin(t)
	if e, err := (Dir{Path: dir}).Read(); err != nil || e.Plan.Config.Runs != 23 {
		t.Errorf("Read: %v", err)
	}
}

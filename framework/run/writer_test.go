package run

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
	"time"

	"github.com/rlrun/rlrun/framework/internal/disk"
	"github.com/rlrun/rlrun/framework/internal/plantest"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// broken is a file system on which no file can be made.
type broken struct{ disk.OS }

func (broken) CreateTemp(string) (disk.File, error) {
	return nil, &fs.PathError{Op: "open", Path: "x", Err: errors.New("stale file handle")}
}

// A directory that cannot be written to ends the experiment with the reason, whether
// the timer or a worker writes.
func TestUnwritableRecordsEndTheExperiment(t *testing.T) {
	p := plantest.Compile(t, nil)
	err := runPlan(t.Context(), p, runOptions{Dir: t.TempDir(), Disk: broken{}, Open: opener(nil)})
	if err == nil || !strings.Contains(err.Error(), "stale file handle") {
		t.Errorf("got %v", err)
	}
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "runs"), nil, 0o600))
	err = runPlan(t.Context(), plantest.Compile(t, nil), runOptions{Dir: dir, Open: opener(nil)})
	if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "runs")) {
		t.Errorf("runs is a file: %v", err)
	}
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
	p, dir := plantest.Compile(t, func(c *plan.Config) { c.Lanes, c.Workers = 1, 1 }), t.TempDir()
	var files atomic.Bool
	files.Store(true)
	err := runPlan(t.Context(), p, runOptions{Dir: dir, Disk: full{files: &files}, Open: func(ctx context.Context, c plan.Component) (vector.Plugin, func() error, error) {
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
	p, dir := plantest.Compile(t, func(c *plan.Config) { c.Workers = 1 }), t.TempDir()
	done := do(t, p, t.TempDir(), false, opener(nil))
	err := runPlan(t.Context(), p, runOptions{Dir: dir, Open: func(ctx context.Context, c plan.Component) (vector.Plugin, func() error, error) {
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
	p, dir := plantest.Compile(t, func(c *plan.Config) { c.Lanes, c.Workers, c.Agents = 23, 1, c.Agents[:1] }), t.TempDir()
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

// Another experiment is refused in one line before anything is written.
func TestResumeRefusesAnotherExperiment(t *testing.T) {
	s := store.Session{Started: time.Unix(1, 0), Seed: 1}
	begin := func(t *testing.T) string {
		dir := t.TempDir()
		must.Do(t, doAs(t, plantest.Compile(t, nil), dir, false, s))
		return dir
	}
	for name, tt := range map[string]struct {
		change func(t *testing.T, dir string)
		runs   int
		want   string
		is     error
	}{
		"no config": {func(t *testing.T, dir string) { must.Do(t, os.Remove(filepath.Join(dir, store.ConfigFile))) }, 23, "no experiment.yaml", store.ErrOtherExperiment},
		"another seed": {func(t *testing.T, dir string) {
			p := plantest.Compile(t, func(c *plan.Config) { c.Seed = new(uint64(2)) })
			must.Do(t, os.WriteFile(filepath.Join(dir, store.ConfigFile), must.Get(p.Config.YAML())(t), 0o666))
		}, 23, "seed 2", store.ErrOtherExperiment},
		"fewer runs": {nil, 5, "ask for 23 runs or more", store.ErrOtherExperiment},
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
			_, err := prepare(t, plantest.Compile(t, func(c *plan.Config) { c.Runs = tt.runs }), dir, true, s)
			if !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v", err)
			}
			if name == "another seed" {
				if _, err := (store.Dir{Path: dir}).Read(); !errors.Is(err, store.ErrOtherExperiment) {
					t.Errorf("Read: %v", err)
				}
			}
		})
	}
	dir := begin(t)
	if e, err := (store.Dir{Path: dir}).Read(); err != nil || e.Plan.Config.Runs != 23 {
		t.Errorf("Read: %v", err)
	}
}

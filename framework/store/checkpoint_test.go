package store

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/rlrun/rlrun/framework/internal/disk"
	"github.com/rlrun/rlrun/framework/internal/plantest"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/internal/must"
)

func checkpointed(t *testing.T, d Dir, program string) *Checkpoints {
	p := plantest.Compile(t, func(c *plan.Config) { c.Checkpoint = &plan.Checkpoint{} })
	return d.Checkpoints(p, &Session{Program: program}, plan.Cell{Environment: 0, Agent: 1}, "experiment")
}

// The last checkpoint that is whole is read, and never one that is cut off or changed anywhere, or of other programs.
func TestCheckpoints(t *testing.T) {
	d := Dir{Path: t.TempDir()}
	k := checkpointed(t, d, "a")
	of := func(step int) *loop.Checkpoint {
		return &loop.Checkpoint{Step: step, Calls: step + 1, Actions: [][]byte{{1, 2}}, Sums: []uint64{math.MaxUint64}, Agent: []byte("agent"), Counts: []int{step},
			Numbers: []float64{math.Copysign(0, -1), math.Inf(1)}, Curves: [][]float64{{1}, {2, math.Copysign(0, -1)}}}
	}
	for _, step := range []int{90, 200, 1000} {
		must.Do(t, k.Write(3, of(step)))
	}
	if steps := must.Get(k.steps(3))(t); !reflect.DeepEqual(steps, []int{1000, 200}) {
		t.Fatalf("kept are %v", steps)
	}
	same := func(want int) error {
		t.Helper()
		c, err := k.Read(3)
		if want == 0 && c != nil || want > 0 && (c == nil || !reflect.DeepEqual(c, of(want)) || !math.Signbit(c.Numbers[0])) {
			t.Fatalf("read %+v, want that of step %d", c, want)
		}
		return err
	}
	if err := same(1000); err != nil {
		t.Fatal(err)
	}
	last := k.file(3, 1000)
	whole := must.Get(os.ReadFile(last))(t)
	for n := range whole { // torn, and with another byte
		for _, data := range [][]byte{whole[:n], append(append([]byte(nil), whole[:n]...), append([]byte{whole[n] ^ 4}, whole[n+1:]...)...)} {
			must.Do(t, os.WriteFile(last, data, 0o666))
			if err := same(200); err == nil || !strings.Contains(err.Error(), "1000.checkpoint is damaged") {
				t.Fatalf("byte %d: %v", n, err)
			}
		}
	}
	must.Do(t, os.Truncate(last, 1<<42)) // it takes no room
	if err := same(200); err == nil || !strings.Contains(err.Error(), "1000.checkpoint is larger than") {
		t.Fatal(err)
	}
	if c, err := checkpointed(t, d, "b").Read(3); c != nil || err == nil || !strings.Contains(err.Error(), "of other programs") {
		t.Errorf("of another program: %v, %v", c, err)
	}
	must.Do(t, k.Write(3, of(95))) // the run has begun again: the damaged one does not outlive those that follow
	if err := same(95); err != nil {
		t.Error(err)
	}
	if c, err := k.Read(4); c != nil || err != nil {
		t.Errorf("of another run: %v, %v", c, err)
	}
	must.Do(t, k.Remove(3))
	if err := same(0); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(d.Path, checkpointsDir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the empty directory is left: %v", err)
	}
}

// full is a file system without room for any more bytes.
type full struct{ disk.OS }

func (full) CreateTemp(path string) (disk.File, error) {
	f, err := disk.OS{}.CreateTemp(path)
	return fullFile{f}, err
}

type fullFile struct{ disk.File }

func (f fullFile) Write(p []byte) (int, error) {
	n, _ := f.File.Write(p[:len(p)/2])
	return n, errors.New("no space left on device")
}

// small is a file system that is full while more than so many files are in the directory of checkpoints.
type small struct {
	disk.OS
	t   *testing.T
	dir string
	has int
}

func (s small) CreateTemp(path string) (disk.File, error) {
	f, err := s.OS.CreateTemp(path)
	return smallFile{f, s}, err
}

type smallFile struct {
	disk.File
	of small
}

func (f smallFile) Write(p []byte) (int, error) {
	if kept := must.Get(filepath.Glob(filepath.Join(f.of.dir, checkpointsDir, "*", "*"+checkpointExt)))(f.of.t); len(kept) > f.of.has {
		return 0, syscall.ENOSPC
	}
	return f.File.Write(p)
}

// On a full disk old checkpoints go, of all runs, and never the last of a run.
func TestOldCheckpointsMakeRoom(t *testing.T) {
	d := Dir{Path: t.TempDir()}
	k := checkpointed(t, d, "a")
	for _, run := range []int{0, 1} {
		for _, step := range []int{5, 6} {
			must.Do(t, k.Write(run, &loop.Checkpoint{Step: step}))
		}
	}
	d.Disk = small{t: t, dir: d.Path, has: 2}
	must.Do(t, checkpointed(t, d, "a").Write(0, &loop.Checkpoint{Step: 7}))
	for run, want := range [][]int{{7, 6}, {6}} {
		if steps := must.Get(k.steps(run))(t); !reflect.DeepEqual(steps, want) {
			t.Errorf("run %d: kept are %v, want %v", run, steps, want)
		}
	}
	d.Disk = small{t: t, dir: d.Path, has: 1}
	if err := checkpointed(t, d, "a").Write(1, &loop.Checkpoint{Step: 9}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v", err)
	}
	if c, err := k.Read(0); err != nil || c.Step != 7 {
		t.Errorf("read %v, %v", c, err)
	}
}

// A checkpoint that cannot be written leaves those before it.
func TestCheckpointWithoutRoom(t *testing.T) {
	d := Dir{Path: t.TempDir()}
	k := checkpointed(t, d, "a")
	must.Do(t, k.Write(0, &loop.Checkpoint{Step: 5}))
	d.Disk = full{}
	if err := checkpointed(t, d, "a").Write(0, &loop.Checkpoint{Step: 6}); err == nil || !strings.Contains(err.Error(), "no space") {
		t.Errorf("got %v", err)
	}
	if c, err := k.Read(0); err != nil || c.Step != 5 {
		t.Errorf("read %v, %v", c, err)
	}
}

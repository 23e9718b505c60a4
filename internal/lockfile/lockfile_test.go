package lockfile_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlrun/rlrun/internal/lockfile"
	"github.com/rlrun/rlrun/internal/must"
)

// TestMain lets the test binary be another process, which takes a lock, says so
// and waits to be killed.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "hold" {
		lock, err := lockfile.Take(os.Args[2])
		fmt.Println(err)
		time.Sleep(time.Hour)
		runtime.KeepAlive(lock)
	}
	os.Exit(m.Run())
}

// A lock is refused, naming its holder, until the holder releases it or dies. A
// lock left by a dead holder does no harm.
func TestTake(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	must.Do(t, os.WriteFile(path, []byte("process 1 on mars\n"), 0o600))
	l := must.Get(lockfile.Take(path))(t)
	var held *lockfile.HeldError
	if _, err := lockfile.Take(path); !errors.As(err, &held) || !strings.HasPrefix(held.Holder, fmt.Sprintf("process %d on ", os.Getpid())) {
		t.Errorf("got %v, want it held by this process", err)
	}
	must.Do(t, l.Release())
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error("the file is still there")
	}

	other := exec.Command(os.Args[0], "hold", path)
	out := must.Get(other.StdoutPipe())(t)
	must.Do(t, other.Start())
	var said string
	if _, err := fmt.Fscan(out, &said); err != nil || said != "<nil>" {
		t.Fatalf("the other process says %q (%v)", said, err)
	}
	if _, err := lockfile.Take(path); !errors.As(err, &held) || !strings.HasPrefix(held.Holder, fmt.Sprintf("process %d on ", other.Process.Pid)) {
		t.Errorf("got %v, want it held by process %d", err, other.Process.Pid)
	}
	must.Do(t, other.Process.Kill())
	other.Wait()
	l = must.Get(lockfile.Take(path))(t)
	must.Do(t, l.Release())
	if _, err := lockfile.Take(filepath.Join(path, "x", "lock")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("in a directory that is not there: got %v", err)
	}
}

// Never two at once, however many come and go.
func TestExclusive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var inside, turns atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for turns.Load() < 100 {
				l, err := lockfile.Take(path)
				var held *lockfile.HeldError
				if errors.As(err, &held) {
					runtime.Gosched()
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if inside.Add(1) != 1 {
					t.Error("two hold the lock")
				}
				turns.Add(1)
				time.Sleep(20 * time.Microsecond)
				inside.Add(-1)
				if err := l.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// Take waits for a lock that is held for a moment only. A process that is killed while it
// starts another leaves the lock to the new one, until the program of that one runs.
func TestTakeWaitsAMoment(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	l := must.Get(lockfile.Share(path))(t)
	time.AfterFunc(30*time.Millisecond, func() { _ = l.Release() })
	again := must.Get(lockfile.Take(path))(t)
	if err := again.Release(); err != nil {
		t.Error(err)
	}
}

package cputime_test

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/rlrun/rlrun/internal/cputime"
	"github.com/rlrun/rlrun/internal/must"
)

// Work counts, sleep does not, and the time of a process is at least that of its thread.
func TestNow(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began, known := cputime.Now()
	if !known {
		t.Skip("this system does not tell processor time")
	}
	wall := time.Now()
	for now := began; now < began+20*time.Millisecond; now, _ = cputime.Now() {
		if time.Since(wall) > time.Minute {
			t.Fatal("a minute of work took less than 20 ms of processor time")
		}
	}
	thread, _ := cputime.Now()
	both, known := cputime.Now(os.Getpid())
	if !known || both < 2*thread {
		t.Errorf("thread and process have %v, %v, and the thread alone %v", both, known, thread)
	}
	if whole, twice := cputime.Whole(), cputime.Whole(os.Getpid()); whole < thread || twice < 2*whole {
		t.Errorf("the process has %v, twice %v, and its thread %v", whole, twice, thread)
	}
	time.Sleep(100 * time.Millisecond)
	if after, _ := cputime.Now(); after-thread > 50*time.Millisecond {
		t.Errorf("a sleep of 100 ms took %v", after-thread)
	}
}

// The time of a process is not known once it has ended.
func TestNowOfEndedProcess(t *testing.T) {
	cmd := exec.Command(must.Get(os.Executable())(t), "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if sum, known := cputime.Now(cmd.Process.Pid); known {
		t.Errorf("an ended process has %v", sum)
	}
}

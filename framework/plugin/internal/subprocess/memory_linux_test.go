package subprocess

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rlrun/rlrun/internal/must"
)

// The test's program is every process that a test needs.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 {
		os.Exit(m.Run())
	}
	switch os.Args[1] {
	case "hog":
		hog()
	case "parent": // of a hog, whose end it survives
		_ = exec.Command(os.Args[0], "hog").Run()
		fmt.Fprintln(os.Stderr, "bereft")
		time.Sleep(time.Hour)
	default:
		os.Exit(m.Run())
	}
}

// hog fills memory until it is stopped; 1 GiB is what a machine has to spare.
func hog() {
	var held [][]byte
	for range 256 {
		b := make([]byte, 4<<20)
		for i := range b {
			b[i] = 1
		}
		held = append(held, b)
	}
	runtime.KeepAlive(held)
}

// A program that takes more memory than its limit is killed, whether it or a process that it
// has started holds the memory.
func TestMemoryLimit(t *testing.T) {
	for _, who := range []string{"hog", "parent"} {
		t.Run(who, func(t *testing.T) {
			s := New(exec.Command(os.Args[0], who), NewTail(10))
			s.LimitMemory(64 << 20)
			go io.Copy(io.Discard, s.Stdout())
			go io.Copy(io.Discard, s.Stderr())
			must.Do(t, s.Start(t.Context()))
			<-s.Done()
			if got := s.Ending(); !strings.HasSuffix(got, "of memory, its limit is 64 MiB") || s.Killed() {
				t.Errorf("got %q; killed %v", got, s.Killed())
			}
		})
	}
}

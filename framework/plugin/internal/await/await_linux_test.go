package await

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// pair returns the two ends of a connection at a socket in a folder.
func pair(t *testing.T) (dir string, accepted, dialled net.Conn) {
	t.Helper()
	dir, err := os.MkdirTemp("", "await")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	if dialled, err = net.Dial("unix", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if accepted, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.Close()
		dialled.Close()
		accepted.Close()
		os.RemoveAll(dir)
	})
	return dir, accepted, dialled
}

func send(t *testing.T, c net.Conn, b ...byte) {
	t.Helper()
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
}

// Looks in vain are paid for by waits that do not look, more each time up to a
// limit, until one is not in vain; sooner if another process took the processor.
func TestLooksInVainGetRarer(t *testing.T) {
	var l looks
	look := func(o outcome) (skipped int) {
		for !l.worth() {
			skipped++
		}
		l.learn(o)
		return skipped
	}
	for i, tt := range []struct {
		o       outcome
		skipped int // before it
	}{
		{inVain, 0}, {inVain, 1}, {inVain, 3}, {seen, 7}, {seen, 0}, {contended, 0}, {contended, 15}, {contended, 75}, {contended, 315}, {inVain, longest}, {seen, longest}, {inVain, 0}, {seen, 1},
	} {
		if got := look(tt.o); got != tt.skipped {
			t.Errorf("look %d came after %d waits that did not look, want %d", i, got, tt.skipped)
		}
	}
}

// A look ends when the processor was away for long, whether or not its time is over,
// or when its time is.
func TestJudge(t *testing.T) {
	const µs = time.Microsecond
	start := time.Now()
	for _, tt := range []struct {
		name        string
		before, now time.Duration // since start
		over        bool
		o           outcome
	}{
		{"the first pause", 0, 1 * µs, false, seen},
		{"in good time", 990 * µs, 1000 * µs, false, seen},
		{"too late", 999 * µs, 1001 * µs, true, inVain},
		{"too late by the other side's work", 10 * µs, 1010 * µs, true, inVain},
		{"by another program's", 10 * µs, 1011 * µs, true, contended},
		{"by another program's, at once", 0, 5000 * µs, true, contended},
	} {
		if over, o := judge(start, start.Add(tt.before), start.Add(tt.now)); over != tt.over || o != tt.o {
			t.Errorf("%s: got %v, %v, want %v, %v", tt.name, over, o, tt.over, tt.o)
		}
	}
}

// What comes in is seen and not taken out, and so is the end. Whatever else the
// machine does, a wait takes it for what it is, or for contention.
func TestWait(t *testing.T) {
	dir, a, b := pair(t)
	w := Accepted(dir)
	if w == nil {
		t.Fatal("not found")
	}
	const busy = 15 // waits that do not look, after one that was contended
	check := func(what string, ready bool, skip int) {
		t.Helper()
		if got := w.ready(); got != ready {
			t.Errorf("%s: ready: got %v", what, got)
		}
		w.looks = looks{}
		if w.Wait(); w.skip != skip && w.skip != busy {
			t.Errorf("%s: the next %d waits do not look, want %d", what, w.skip, skip)
		}
	}
	send(t, a, 1) // comes in at the other end
	check("nothing", false, 1)
	send(t, b, 1)
	check("a byte", true, 0)
	if n, err := a.Read(make([]byte, 2)); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	check("nothing again", false, 1)
	b.Close()
	check("the end", true, 0)
	w.skip, w.next = 1, 5
	if w.Wait(); w.skip != 0 || w.next != 5 {
		t.Error("a wait that should not look did")
	}
	(*Waiter)(nil).Wait()
}

// The accepted connection is found by the folder of its socket alone.
func TestAccepted(t *testing.T) {
	dir, _, _ := pair(t)
	if Accepted(dir) == nil {
		t.Error("not found")
	}
	for _, other := range []string{"", t.TempDir(), filepath.Join(dir, "s")} {
		if Accepted(other) != nil {
			t.Errorf("found in %q", other)
		}
	}
}

// A connection that looks reads what any does: what is there, what comes while it
// looks, what comes after it has gone to sleep, and the end.
func TestConn(t *testing.T) {
	_, a, b := pair(t)
	c := Conn(b).(*conn)
	buffer := make([]byte, 8)
	read := func(want ...byte) {
		t.Helper()
		if n, err := c.Read(buffer); err != nil || string(buffer[:n]) != string(want) {
			t.Fatalf("read %v, %v, want %v", buffer[:n], err, want)
		}
	}
	send(t, a, 1, 2, 3)
	read(1, 2, 3)
	asleep := 0
	for i := range byte(100) {
		go func() {
			if i%2 == 1 {
				time.Sleep(2 * patience)
			}
			a.Write([]byte{i})
		}()
		c.looks = looks{}
		read(i)
		if c.went != seen {
			asleep++
		}
	}
	if asleep == 0 {
		t.Error("no read went to sleep, though half of what came came after twice the longest look")
	}
	if n, err := c.Read(nil); n != 0 || err != nil {
		t.Error("reading nothing:", n, err)
	}
	if err := c.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(buffer); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("past the deadline:", err)
	}
	if err := c.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	a.Close()
	if n, err := c.Read(buffer); n != 0 || err != io.EOF {
		t.Error("at the end:", n, err)
	}
	c.Close()
	if _, err := c.Read(buffer); !errors.Is(err, net.ErrClosed) {
		t.Error("after closing:", err)
	}
	if p, q := net.Pipe(); Conn(p) != p || Conn(q) != q {
		t.Error("a pipe in memory has no descriptor to look at")
	}
}

// Reading allocates nothing.
func TestReadDoesNotAllocate(t *testing.T) {
	_, a, b := pair(t)
	c := Conn(b)
	buffer, one := make([]byte, 8), []byte{1}
	if n := testing.AllocsPerRun(100, func() {
		if _, err := a.Write(one); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(buffer); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations a read", n)
	}
}

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
// limit, until one is not in vain.
func TestLooksInVainGetRarer(t *testing.T) {
	dir, a, b := pair(t)
	w := Accepted(dir)
	look := func() (skipped int) {
		for w.skip > 0 {
			w.Wait()
			skipped++
		}
		w.Wait()
		return skipped
	}
	for i, want := range []int{0, 1, 3, 7} {
		if got := look(); got != want {
			t.Errorf("look %d came after %d waits that did not look, want %d", i, got, want)
		}
	}
	send(t, b, 1)
	look()
	if w.skip != 0 || w.next != 0 {
		t.Errorf("after a look that was not in vain %d waits do not look, then %d", w.skip, w.next)
	}
	if n, err := a.Read(make([]byte, 2)); n != 1 || err != nil {
		t.Errorf("read %d bytes, %v: looking must take nothing out", n, err)
	}
	w.next = longest
	look()
	if w.skip != longest {
		t.Errorf("%d waits in a row do not look, want at most %d", w.skip, longest)
	}
}

// The accepted connection is found by the folder of its socket; neither the listener
// nor the dialled end is taken for it. The other end closing ends a wait.
func TestAccepted(t *testing.T) {
	dir, a, b := pair(t)
	w := Accepted(dir)
	if w == nil {
		t.Fatal("not found")
	}
	send(t, a, 1) // comes in at the other end
	w.Wait()
	if w.next == 0 {
		t.Error("there was nothing to see")
	}
	w.skip = 0
	b.Close()
	w.Wait()
	if w.next != 0 {
		t.Error("the end was not seen")
	}
	for _, other := range []string{"", t.TempDir(), filepath.Join(dir, "s")} {
		if Accepted(other) != nil {
			t.Errorf("found in %q", other)
		}
	}
	(*Waiter)(nil).Wait()
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
		c.skip = 0
		read(i)
		if c.inVain {
			asleep++
		}
	}
	if asleep < 50 {
		t.Errorf("only %d of 50 reads went to sleep before something came", asleep)
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

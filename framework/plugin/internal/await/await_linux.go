package await

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// patience is how long a wait looks: somewhat longer than a call of a thousand
	// lanes takes.
	patience = 300 * time.Microsecond
	// longest is for how many waits at most there is no looking after some that
	// were in vain.
	longest = 1023
)

// looks decides when to look.
type looks struct {
	skip int // so many waits do not look
	next int // that many after the next that is in vain
}

// worth tells whether to look.
func (l *looks) worth() bool {
	if l.skip > 0 {
		l.skip--
		return false
	}
	return true
}

// done takes in how it went.
func (l *looks) done(inVain bool) {
	if !inVain {
		l.next = 0
		return
	}
	l.next = min(2*l.next+1, longest)
	l.skip = l.next
}

// pause lets others run: this process's goroutines, and other processes on this
// processor.
func pause() {
	_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
	runtime.Gosched()
}

// conn is a connection whose Read looks before it sleeps.
type conn struct {
	net.Conn
	raw syscall.RawConn
	looks
	// Of the Read under way, kept here so that it does not allocate.
	read   func(fd uintptr) (done bool)
	p      []byte
	n      int
	err    error
	look   bool
	inVain bool
	done   bool
}

// Conn returns c, with a Read that looks for what comes in before it sleeps; c itself
// if it has no descriptor. Read is for one goroutine at a time.
func Conn(c net.Conn) net.Conn {
	s, ok := c.(syscall.Conn)
	if !ok {
		return c
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return c
	}
	x := &conn{Conn: c, raw: raw}
	x.read = x.tryRead
	return x
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c.p, c.look, c.inVain, c.done = p, c.worth(), false, false
	err := c.raw.Read(c.read)
	c.p = nil
	if c.look {
		c.looks.done(c.inVain)
	}
	switch {
	case !c.done:
		return 0, err // closed, or past a deadline
	case c.err != nil:
		return 0, &net.OpError{Op: "read", Net: c.LocalAddr().Network(), Addr: c.RemoteAddr(), Err: os.NewSyscallError("read", c.err)}
	case c.n == 0:
		return 0, io.EOF
	}
	return c.n, nil
}

// tryRead reads, and looks for a while if there is nothing. It is called again when
// there is something after all.
func (c *conn) tryRead(fd uintptr) bool {
	var start time.Time
	for {
		c.n, c.err = ignoringEINTR(func() (int, error) { return unix.Read(int(fd), c.p) })
		if c.err != unix.EAGAIN {
			c.done = true
			return true
		}
		switch {
		case !c.look || c.inVain:
			return false
		case start.IsZero():
			start = time.Now()
		case time.Since(start) > patience:
			c.inVain = true
			return false
		}
		pause()
	}
}

func ignoringEINTR(f func() (int, error)) (int, error) {
	for {
		n, err := f()
		if err != unix.EINTR {
			return n, err
		}
	}
}

// Waiter looks for what comes in at a connection that others read. nil never looks.
// It is for one goroutine, of a process with one processor: with more, what comes in
// wakes a sleeping one, which is what Conn is for.
type Waiter struct {
	poll [1]unix.PollFd
	looks
}

// Accepted returns a Waiter on a connection that this process has accepted at a
// socket in dir, nil if there is none. gRPC does not hand its connections out, so
// it goes through the process's files.
func Accepted(dir string) *Waiter {
	files, err := os.ReadDir("/proc/self/fd")
	if dir == "" || err != nil {
		return nil
	}
	for _, f := range files {
		fd, err := strconv.Atoi(f.Name())
		if err != nil {
			continue
		}
		if listens, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ACCEPTCONN); err != nil || listens != 0 {
			continue
		}
		name, err := unix.Getsockname(fd)
		if u, ok := name.(*unix.SockaddrUnix); err == nil && ok && filepath.Dir(u.Name) == filepath.Clean(dir) {
			return on(fd)
		}
	}
	return nil
}

func on(fd int) *Waiter {
	return &Waiter{poll: [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}}
}

// Wait returns when something has come in, or soon.
func (w *Waiter) Wait() {
	if w == nil || !w.worth() {
		return
	}
	for start := time.Now(); ; {
		pause() // first of all to whoever is to send what the other side waits for
		n, err := ignoringEINTR(func() (int, error) { return unix.Poll(w.poll[:], 0) })
		if n > 0 || err != nil {
			w.done(false)
			return
		}
		if time.Since(start) > patience {
			w.done(true)
			return
		}
	}
}

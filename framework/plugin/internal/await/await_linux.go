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
	// patience is how long a wait looks: longer than a call of a thousand lanes, and
	// what the host does before the next one, take where others slow the machine down.
	patience = time.Millisecond
	// slice is how long the other side computes at most, if it takes the processor;
	// whoever takes it for longer is somebody else.
	slice = time.Millisecond
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

// outcome is how a look went.
type outcome int

const (
	seen      outcome = iota // something came in
	inVain                   // nothing did
	contended                // others need the processor: see judge
)

// learn takes in how a look went.
func (l *looks) learn(o outcome) {
	switch o {
	case seen:
		l.next = 0
	case inVain:
		l.next = min(2*l.next+1, longest)
	case contended:
		l.next = min(4*l.next+15, longest)
	}
	l.skip = l.next
}

// judge tells whether a look that began at start is over, and how it went if nothing
// came in: before is when it last had the processor, now when it has it again after
// offering it to others. If another process takes the processor for long, it is a
// busy one, which gives it back only after milliseconds, and sooner to who has slept
// than to who has looked.
func judge(start, before, now time.Time) (over bool, o outcome) {
	switch {
	case now.Sub(before) > slice:
		return true, contended
	case now.Sub(start) > patience:
		return true, inVain
	}
	return false, seen
}

// look is the time of a look under way.
type look struct{ start, last time.Time }

// pause lets others run: this process's goroutines, and other processes on this
// processor. It returns what judge says of it.
func (l *look) pause() (over bool, o outcome) {
	if l.start.IsZero() {
		l.start = time.Now()
		l.last = l.start
	}
	_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
	runtime.Gosched()
	before := l.last
	l.last = time.Now()
	return judge(l.start, before, l.last)
}

// conn is a connection whose Read looks before it sleeps.
type conn struct {
	net.Conn
	raw syscall.RawConn
	looks
	// Of the Read under way, kept here so that it does not allocate.
	read    func(fd uintptr) (done bool)
	p       []byte
	n       int
	err     error
	looking bool // not yet asleep
	went    outcome
	tried   bool // n and err hold what came of it
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
	looks := c.worth()
	c.p, c.looking, c.went, c.tried = p, looks, seen, false
	err := c.raw.Read(c.read)
	c.p = nil
	if looks {
		c.learn(c.went)
	}
	switch {
	case !c.tried:
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
	var l look
	for {
		c.n, c.err = ignoringEINTR(func() (int, error) { return unix.Read(int(fd), c.p) })
		if c.err != unix.EAGAIN {
			c.tried = true
			return true
		}
		if !c.looking {
			return false
		}
		var over bool
		if over, c.went = l.pause(); over {
			c.looking = false // but try once more before sleeping
		}
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

// Wait returns when something has come in, or soon. It begins with a pause: what the
// other side waits for may still have to be sent.
func (w *Waiter) Wait() {
	if w == nil || !w.worth() {
		return
	}
	var l look
	for {
		over, went := l.pause()
		if went != contended && w.ready() {
			over, went = true, seen
		}
		if over {
			w.learn(went)
			return
		}
	}
}

// ready tells whether something has come in, or will no more.
func (w *Waiter) ready() bool {
	n, err := ignoringEINTR(func() (int, error) { return unix.Poll(w.poll[:], 0) })
	return n > 0 || err != nil
}

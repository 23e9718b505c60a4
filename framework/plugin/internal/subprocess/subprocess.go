// Package subprocess is the operating system's side of a plugin: its process,
// what it prints, how it ends. It imports go-plugin's runner interface, which it
// implements, and the standard library.
package subprocess

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/go-plugin/runner"
)

// pipeDelay is how long a dead plugin's children may keep its pipes open.
const pipeDelay = time.Second

// Subprocess is a plugin's process. go-plugin starts it, reads the handshake from
// it and forwards its log through it. Unlike go-plugin's own runner it also kills the processes
// that the plugin has started, even if the host is killed. It waits for no pipe that a
// grandchild holds open, never stops reading standard output, and accepts a handshake after
// other output.
type Subprocess struct {
	cmd            *exec.Cmd
	stdout, stderr *io.PipeReader // what go-plugin reads: the handshake alone, and everything
	outlet, errlet *io.PipeWriter
	version        chan string // gets the protocol version of the handshake, when it comes

	mu     sync.Mutex
	killed bool
	done   chan struct{} // closed when the process has ended and its output been read
	err    error         // then: how it ended
}

var _ runner.Runner = (*Subprocess)(nil)

// New prepares cmd; Start starts it. What it prints goes to t.
func New(cmd *exec.Cmd, t *Tail) *Subprocess {
	s := &Subprocess{cmd: cmd, version: make(chan string, 1), done: make(chan struct{})}
	s.stdout, s.outlet = io.Pipe()
	s.stderr, s.errlet = io.Pipe()
	cmd.Stdin = nil
	cmd.Stdout = &handshakeFilter{line: s.outlet, noise: t.Stream(), version: s.version}
	cmd.Stderr = io.MultiWriter(t.Stream(), s.errlet)
	cmd.WaitDelay = pipeDelay
	setProcessAttributes(cmd)
	return s
}

// Start implements runner.Runner. The thread that starts the process is kept
// until it ends: Linux' parent-death signal comes when that thread dies.
func (s *Subprocess) Start(context.Context) error {
	started := make(chan error)
	go s.live(started)
	return <-started
}

// live starts the process and waits for its end.
func (s *Subprocess) live(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s.mu.Lock()
	err := errors.New("killed before it started")
	if !s.killed {
		err = s.cmd.Start()
	}
	s.mu.Unlock()
	started <- err
	if err == nil {
		guardGroup(s.cmd.Process.Pid)
		raiseOOMScore(s.cmd.Process.Pid)
		if err = s.cmd.Wait(); errors.Is(err, exec.ErrWaitDelay) {
			err = nil
		}
		_ = killGroup(s.cmd.Process) // what it may have left behind
		dismissGroup(s.cmd.Process.Pid)
	}
	s.err = err
	s.outlet.Close()
	s.errlet.Close()
	close(s.done)
}

// Wait implements runner.Runner.
func (s *Subprocess) Wait(context.Context) error {
	<-s.done
	return s.err
}

// Kill implements runner.Runner: it kills the process and what it started.
func (s *Subprocess) Kill(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.killed = true
	select {
	case <-s.done:
		return nil
	default:
	}
	if s.cmd.Process == nil {
		return nil
	}
	return killGroup(s.cmd.Process)
}

// Killed says whether Kill ended the process. It requires Done to be closed.
func (s *Subprocess) Killed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.killed && wasKilled(s.cmd.ProcessState)
}

// Done is closed when the process has ended and its output has been read.
func (s *Subprocess) Done() <-chan struct{} { return s.done }

// Ending says how the process ended. It requires Done to be closed.
func (s *Subprocess) Ending() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err == nil:
		return "exit status 0"
	case !s.killed && wasKilled(s.cmd.ProcessState):
		return s.err.Error() + ", and not by rlrun: the machine may be out of memory"
	}
	return s.err.Error()
}

// Pid returns the process's id, 0 before it has started.
func (s *Subprocess) Pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd.Process == nil {
		return 0
	}
	return s.cmd.Process.Pid
}

// Version gets the protocol version of the handshake when it comes.
func (s *Subprocess) Version() <-chan string { return s.version }

// Stdout implements runner.Runner.
func (s *Subprocess) Stdout() io.ReadCloser { return s.stdout }

// Stderr implements runner.Runner.
func (s *Subprocess) Stderr() io.ReadCloser { return s.stderr }

// Name implements runner.Runner.
func (s *Subprocess) Name() string { return s.cmd.Path }

// ID implements runner.Runner.
func (s *Subprocess) ID() string {
	if pid := s.Pid(); pid > 0 {
		return strconv.Itoa(pid)
	}
	return ""
}

// Diagnose implements runner.Runner. Launch explains failures itself.
func (s *Subprocess) Diagnose(context.Context) string { return "" }

// PluginToHost implements runner.Runner: it refuses an address that the protocol does not
// have. On Windows go-plugin itself uses TCP.
func (s *Subprocess) PluginToHost(network, address string) (string, string, error) {
	if network != "unix" && runtime.GOOS != "windows" {
		return "", "", fmt.Errorf("its handshake names an address of the network %s, and plugins listen on Unix sockets only", network)
	}
	return network, address, nil
}

// HostToPlugin implements runner.Runner.
func (s *Subprocess) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}

// handshakeFilter is a plugin's standard output. It passes on the handshake, the
// one line meant for go-plugin, even if other output stands before it on the
// same line. It drops all other output, of any length, at any time.
type handshakeFilter struct {
	line    *io.PipeWriter
	noise   io.Writer
	version chan<- string
	pending []byte // the line so far, before the handshake
	passed  bool
}

// maxHandshake bounds a line that may be the handshake. It holds a certificate.
const maxHandshake = 16 << 10

var handshakeLine = regexp.MustCompile(`\d\|(\d+)\|(unix|tcp)\|[^|]+\|.*$`)

// Write implements io.Writer.
func (f *handshakeFilter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 && !f.passed {
		var b byte
		b, p = p[0], p[1:]
		if b != '\n' {
			f.pending = append(f.pending, b)
			if len(f.pending) > 2*maxHandshake {
				f.drop(len(f.pending) - maxHandshake)
			}
			continue
		}
		at := handshakeLine.FindSubmatchIndex(f.pending)
		if at == nil {
			f.pending = append(f.pending, b)
			f.drop(len(f.pending))
			continue
		}
		f.version <- string(f.pending[at[2]:at[3]])
		f.drop(at[0])
		f.passed = true
		if _, err := fmt.Fprintf(f.line, "%s\n", f.pending); err != nil {
			return 0, err
		}
	}
	if len(p) > 0 {
		f.noise.Write(p)
	}
	return n, nil
}

// drop turns the first n pending bytes into noise.
func (f *handshakeFilter) drop(n int) {
	f.noise.Write(f.pending[:n])
	f.pending = f.pending[:copy(f.pending, f.pending[n:])]
}

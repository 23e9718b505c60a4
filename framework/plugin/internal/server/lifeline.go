package server

import (
	"context"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc/stats"
)

const (
	// parentInterval is how often a plugin looks whether its parent is alive.
	parentInterval = 500 * time.Millisecond
	// disconnectTimeout is how long a plugin may live on without a connection, so that
	// main can return after an orderly shutdown.
	disconnectTimeout = time.Second
)

// Lifeline ends the plugin's process when the host is gone. That is when the
// last connection closes, which the kernel does for a host killed with -9. It is
// also when the parent process changes, which covers a host that died before it
// connected.
type Lifeline struct {
	stderr *os.File // before go-plugin replaced it

	mu          sync.Mutex
	connections int
}

var _ stats.Handler = (*Lifeline)(nil)

// NewLifeline watches the parent from now on, and connections once it is the stats
// handler of a gRPC server. It is called before go-plugin replaces standard error.
func NewLifeline() *Lifeline {
	parent := os.Getppid()
	go func() {
		for range time.Tick(parentInterval) {
			if os.Getppid() != parent {
				os.Exit(1)
			}
		}
	}()
	return &Lifeline{stderr: os.Stderr}
}

// HandleConn counts connections. With the first one it points standard output and
// standard error at the process's own standard error. go-plugin has pointed them at pipes
// that it forwards over gRPC. This would lose the last output of a dying process.
func (l *Lifeline) HandleConn(_ context.Context, s stats.ConnStats) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch s.(type) {
	case *stats.ConnBegin:
		l.connections++
		os.Stdout, os.Stderr = l.stderr, l.stderr
	case *stats.ConnEnd:
		l.connections--
		if l.connections == 0 {
			time.AfterFunc(disconnectTimeout, func() { os.Exit(1) })
		}
	}
}

// TagConn implements stats.Handler.
func (l *Lifeline) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// TagRPC implements stats.Handler.
func (l *Lifeline) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC implements stats.Handler.
func (l *Lifeline) HandleRPC(context.Context, stats.RPCStats) {}

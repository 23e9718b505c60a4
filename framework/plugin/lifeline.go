package plugin

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
	// farewell is how long a plugin may live on without a connection, so that
	// main can return after an orderly shutdown.
	farewell = time.Second
)

// lifeline ends the plugin's process when the host is gone: when the last
// connection closes, which the kernel does for a host killed with -9, or when
// the parent process changes, which covers a host that died before it connected.
type lifeline struct {
	stderr *os.File // before go-plugin replaced it

	mu          sync.Mutex
	connections int
}

var _ stats.Handler = (*lifeline)(nil)

func newLifeline() *lifeline {
	parent := os.Getppid()
	go func() {
		for range time.Tick(parentInterval) {
			if os.Getppid() != parent {
				os.Exit(1)
			}
		}
	}()
	return &lifeline{stderr: os.Stderr}
}

// HandleConn counts connections. With the first one it points standard output
// and standard error at the process's own standard error: go-plugin has pointed
// them at pipes that it forwards over gRPC, which would lose a dying process's
// last words.
func (l *lifeline) HandleConn(_ context.Context, s stats.ConnStats) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch s.(type) {
	case *stats.ConnBegin:
		l.connections++
		os.Stdout, os.Stderr = l.stderr, l.stderr
	case *stats.ConnEnd:
		l.connections--
		if l.connections == 0 {
			time.AfterFunc(farewell, func() { os.Exit(1) })
		}
	}
}

// TagConn implements stats.Handler.
func (l *lifeline) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// TagRPC implements stats.Handler.
func (l *lifeline) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC implements stats.Handler.
func (l *lifeline) HandleRPC(context.Context, stats.RPCStats) {}

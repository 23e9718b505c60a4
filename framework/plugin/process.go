package plugin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin/internal/fromproto"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/plugin/internal/subprocess"
	"github.com/rlrun/rlrun/framework/plugin/internal/toproto"
	"github.com/rlrun/rlrun/framework/plugin/internal/wire"
	"github.com/rlrun/rlrun/framework/vector"
)

// Process is a plugin in a process of its own. Its methods may be called
// concurrently; each opened instance by one goroutine at a time.
type Process struct {
	name         string
	description  vector.Description
	digests      map[string]string
	checkSources func(map[string]string) error
	wire         pb.PluginClient
	decisions    pb.DecisionsClient
	openTimeout  time.Duration
	callTimeout  time.Duration
	closeTimeout time.Duration
	tail         *subprocess.Tail
	sub          *subprocess.Subprocess // nil for Loopback
	stop         func()                 // ends process and connection; may block for ever
	conn         *grpc.ClientConn       // nil for Loopback
	socket       *wire.Socket           // for steps; nil if they go over gRPC
	stepping     sync.Mutex             // held while the socket is in use
	guest        string                 // that it was started with; "" if there is none
	host         *Process               // whose guest this is; nil if it is none
	instances    sync.Map               // handles of those that are open
	draws        atomic.Pointer[[]string]

	// ctx ends with the process, or when the process is to end; its cause says why.
	ctx context.Context
	end context.CancelCauseFunc
}

var _ vector.Plugin = (*Process)(nil)

func newProcess(o LaunchConfig, conn grpc.ClientConnInterface, t *subprocess.Tail) *Process {
	p := &Process{
		name: o.Name, guest: o.Guest, checkSources: o.CheckSources, wire: pb.NewPluginClient(conn), decisions: pb.NewDecisionsClient(conn), tail: t,
		openTimeout: o.OpenTimeout, callTimeout: o.CallTimeout, closeTimeout: o.CloseTimeout,
	}
	p.ctx, p.end = context.WithCancelCause(context.Background())
	return p
}

// watch ends the process's context when the process ends, and the process when
// its context does.
func (p *Process) watch() {
	select {
	case <-p.sub.Done():
		p.end(fmt.Errorf("%w (%s)", ErrDied, p.sub.Ending()))
	case <-p.ctx.Done():
		if !errors.Is(context.Cause(p.ctx), ErrClosed) { // Close takes its time
			_ = p.sub.Kill(p.ctx)
		}
	}
}

// stepOver lets steps go over a socket, which is closed when the process ends.
func (p *Process) stepOver(socket *wire.Socket) error {
	if err := socket.Limit(p.callTimeout, watchSlices); err != nil {
		return err
	}
	p.socket = socket
	context.AfterFunc(p.ctx, func() { _ = socket.Close() })
	go func() { // a shell that waits for the plugin may keep its end of the socket open
		if p.conn.WaitForStateChange(p.ctx, connectivity.Ready) {
			p.end(cmp.Or(p.ended(), fmt.Errorf("%w: the connection broke", ErrDied)))
		}
	}()
	return nil
}

// Pid returns the process's id, 0 for Loopback.
func (p *Process) Pid() int {
	if p.sub == nil {
		return 0
	}
	return p.sub.Pid()
}

// Stderr returns the last lines that the process wrote to its standard error.
func (p *Process) Stderr() []string { return p.tail.Last() }

// Close ends the process: in good order if it answers, by force after
// LaunchConfig.CloseTimeout. Open instances fail. It may be called again.
func (p *Process) Close() error {
	if p.host != nil {
		return nil
	}
	p.end(ErrClosed)
	stopped := make(chan struct{})
	go func() {
		p.stop()
		close(stopped)
	}()
	select {
	case <-stopped:
		return nil
	case <-time.After(p.closeTimeout):
	}
	if p.sub == nil {
		return fmt.Errorf("plugin %s: not closed within %v", p.name, p.closeTimeout)
	}
	if err := p.sub.Kill(p.ctx); err != nil {
		return fmt.Errorf("plugin %s: cannot kill process %d: %w", p.name, p.Pid(), err)
	}
	<-stopped
	return nil
}

// Describe implements vector.Plugin.
func (p *Process) Describe(context.Context) (vector.Description, error) {
	return p.description, nil
}

// maxDescription bounds a description and the list of sources, in bytes.
const maxDescription = 16 << 20

// Guest returns the environment that the process of an agent has besides: see LaunchConfig.Guest. It
// lives as long as p, which is closed in its place.
func (p *Process) Guest(ctx context.Context) (*Process, error) {
	g := newProcess(LaunchConfig{Name: p.guest, OpenTimeout: p.openTimeout, CallTimeout: p.callTimeout}, p.conn, p.tail)
	g.sub, g.conn, g.host, g.socket, g.ctx, g.end = p.sub, p.conn, p, p.socket, p.ctx, p.end
	var err error
	if g.description, err = g.describe(ctx); err == nil && g.description.Kind != vector.KindEnvironment {
		err = fmt.Errorf("plugin %s: %w: it does not know RLRUN_GUEST", p.name, framework.ErrUnsupported)
	}
	return g, err
}

func (p *Process) callDescribe(ctx context.Context, request *pb.DescribeRequest) (*pb.DescribeReply, error) {
	rpc := func(ctx context.Context, m *pb.DescribeRequest, o ...grpc.CallOption) (*pb.DescribeReply, error) {
		return p.wire.Describe(ctx, m, append(o, grpc.MaxCallRecvMsgSize(maxDescription))...)
	}
	request.Guest = p.host != nil
	return callWithin(ctx, p, p.openTimeout, "open", rpc, request) // no step: the modules are looked for
}

func (p *Process) describe(ctx context.Context) (vector.Description, error) {
	reply, err := p.callDescribe(ctx, &pb.DescribeRequest{})
	if err != nil {
		return vector.Description{}, err
	}
	d, err := fromproto.Description(reply)
	if err != nil {
		return d, p.failure(0, fmt.Errorf("%w: %w", ErrProtocol, err))
	}
	return d, nil
}

// Digests returns the SHA-256 digests, by name, of what the process was started from
// (Found.Digests), as it was then. If another program than the executable runs in the process,
// such as the interpreter of a script, it is among them as "process NAME"; on Linux only.
func (p *Process) Digests() map[string]string { return maps.Clone(p.digests) }

// Sources asks the process which code it runs besides its executable and the
// files among its arguments: SHA-256 digests of files ("sha256:" and hexadecimal
// digits) and versions of packages, by names such as "module maze" and "package
// numpy". A plugin in Python reports what it has imported so far. Empty if the
// program cannot tell.
func (p *Process) Sources(ctx context.Context) (map[string]string, error) {
	reply, err := p.callDescribe(ctx, &pb.DescribeRequest{Sources: true})
	if err != nil {
		return nil, err
	}
	p.draws.Store(&reply.Draws)
	if p.checkSources != nil && len(reply.Sources) > 0 {
		err = p.checkSources(reply.Sources)
	}
	return reply.Sources, err
}

// Draws returns the random generators of its process from which the program had drawn in steps when
// Sources was called last, by names such as "numpy.random". Runs that share them depend on each other.
func (p *Process) Draws() []string {
	if draws := p.draws.Load(); draws != nil {
		return *draws
	}
	return nil
}

// OpenEnvironment implements vector.Plugin. The environment has
// models if the one in the process has them.
func (p *Process) OpenEnvironment(ctx context.Context, params json.RawMessage, lanes int) (vector.Environment, error) {
	if lanes < 1 {
		return nil, p.failure(0, fmt.Errorf("%d lanes; must be at least 1", lanes))
	}
	reply, err := callWithin(ctx, p, p.openTimeout, "open", p.wire.OpenEnvironment, &pb.OpenEnvironmentRequest{Params: params, Lanes: uint32(lanes)})
	if err != nil {
		return nil, err
	}
	spec, err := fromproto.Spec(reply.Spec)
	if err != nil {
		return nil, p.failure(0, fmt.Errorf("%w: spec: %w", ErrProtocol, err))
	}
	metrics, err := fromproto.Metrics(reply.Metrics)
	if err != nil {
		return nil, p.failure(0, fmt.Errorf("%w: %w", ErrProtocol, err))
	}
	return newEnvironmentClient(p, reply, spec, lanes, metrics)
}

// OpenAgent implements vector.Plugin. The agent has options if the one
// in the process has them.
func (p *Process) OpenAgent(ctx context.Context, params json.RawMessage, spec framework.Spec, lanes int) (vector.Agent, error) {
	if lanes < 1 {
		return nil, p.failure(0, fmt.Errorf("%d lanes; must be at least 1", lanes))
	}
	m, err := toproto.Spec(spec)
	if err != nil {
		return nil, p.failure(0, err)
	}
	reply, err := callWithin(ctx, p, p.openTimeout, "open", p.wire.OpenAgent, &pb.OpenAgentRequest{Params: params, Lanes: uint32(lanes), Spec: m})
	if err != nil {
		return nil, err
	}
	metrics, err := fromproto.Metrics(reply.Metrics)
	if err != nil {
		return nil, p.failure(0, fmt.Errorf("%w: %w", ErrProtocol, err))
	}
	agent, err := newAgentClient(p, reply, spec, lanes, metrics)
	if err != nil {
		return nil, err
	}
	return vector.Admit(agent, spec)
}

// reply is any answer that can carry an error.
type reply interface{ GetError() *pb.Error }

// call makes a control call before its deadline.
func call[Q, R any](ctx context.Context, p *Process, rpc func(context.Context, Q, ...grpc.CallOption) (R, error), request Q) (R, error) {
	return callWithin(ctx, p, p.callTimeout, "call", rpc, request)
}

// callWithin is call with another deadline, which a key of limits sets.
func callWithin[Q, R any](ctx context.Context, p *Process, limit time.Duration, key string, rpc func(context.Context, Q, ...grpc.CallOption) (R, error), request Q) (R, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(p.ctx, func() { cancel(context.Cause(p.ctx)) })()
	defer newWatchdog(limit, func() { p.timeout(limit, key) }).stop()
	answer, err := rpc(ctx, request)
	if err != nil {
		return answer, p.failure(0, p.explain(ctx, err))
	}
	if r, ok := any(answer).(reply); ok && r.GetError() != nil {
		return answer, p.failure(0, fromproto.Error(r.GetError()))
	}
	return answer, nil
}

// timeout gives the process up after a time that a key of limits sets.
func (p *Process) timeout(limit time.Duration, key string) {
	p.end(fmt.Errorf("%w within %v; limits.%s allows more", ErrTimeout, limit, key))
}

// pipeLag is how long what a process wrote before it answered may need to come
// through its pipes, on a machine that is busy. Only what fails waits for it.
const pipeLag = 100 * time.Millisecond

// failure says where err happened and what the process had to say.
func (p *Process) failure(step int, err error) error {
	if p.sub != nil {
		select {
		case <-p.sub.Done():
		case <-time.After(pipeLag):
		}
	}
	return &Error{Plugin: p.name, Step: step, Err: err, Stderr: p.tail.Last()}
}

// exitTimeout is how long a process whose connection broke gets to end by itself,
// so that its exit status and last words can be reported.
const exitTimeout = 2 * time.Second

// explain finds out why a gRPC call under ctx failed with err.
func (p *Process) explain(ctx context.Context, err error) error {
	for _, c := range []context.Context{ctx, p.ctx} {
		if cause := context.Cause(c); cause != nil {
			return cause
		}
	}
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: the plugin ended the stream", ErrProtocol)
	}
	reason := status.Convert(err)
	if c := reason.Code(); c != codes.Unavailable && c != codes.Canceled {
		return fmt.Errorf("%w: %s: %s", ErrProtocol, c, fromproto.OneLine(reason.Message()))
	}
	if died := p.ended(); died != nil {
		return died
	}
	err = fmt.Errorf("%w: the connection broke: %s", ErrDied, fromproto.OneLine(reason.Message()))
	p.end(err)
	return err
}

// ended says how the process has ended; nil if that is not seen in time.
func (p *Process) ended() error {
	if p.sub != nil {
		select {
		case <-p.sub.Done():
			return fmt.Errorf("%w (%s)", ErrDied, p.sub.Ending())
		case <-time.After(exitTimeout):
		}
	}
	return nil
}

// explainSocket finds out why an exchange over the socket failed with err, and ends the process.
func (p *Process) explainSocket(err error) error {
	switch {
	case p.ctx.Err() != nil:
	case errors.Is(err, io.EOF):
		p.end(cmp.Or(p.ended(), fmt.Errorf("%w: the plugin closed the socket for steps", ErrProtocol)))
	case errors.Is(err, os.ErrDeadlineExceeded):
		p.timeout(p.callTimeout, "call")
	default:
		p.end(fmt.Errorf("%w: %w", ErrProtocol, err))
	}
	return context.Cause(p.ctx)
}

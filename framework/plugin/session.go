package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin/internal/fromproto"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/plugin/internal/wire"
	"github.com/rlrun/rlrun/framework/vector"
)

// session is the host's side of one opened instance: its carrier, and the watch
// over every exchange on it. An exchange ends early when the caller's context
// does, when the deadline passes, or when the process ends.
type session struct {
	process  *Process
	instance uint64
	lanes    int
	decides  bool // it is of a rule or a source of options
	carrier  carrier
	steps    int
	failed   error // what the instance failed with
	closed   bool

	// The caller's context is followed from its first step until another one
	// takes its place. So a step costs nothing if the context stays the same.
	// following counts contexts; active is that count during a step, else 0.
	done      <-chan struct{}
	unfollow  func() bool
	following uint64
	active    atomic.Uint64
}

// carrier takes the requests of an instance to the plugin, and brings the replies.
type carrier interface {
	// exchange sends a request and waits for its reply. Its error is explained.
	exchange(request proto.Message, reply stepReply) error
	// abandon ends the exchange that is under way. There can be no other.
	abandon(cause error)
	// close ends the instance in the plugin, if it has failed.
	close(failed bool)
}

// open starts a session. Its steps go over the socket of the process, or, if the plugin does
// not read steps from one, over the stream that start opens. A reply has most bytes at most.
func (p *Process) open(instance uint64, lanes, most int, kind wire.Kind, start func(context.Context, ...grpc.CallOption) (grpc.ClientStream, error)) (*session, error) {
	s := &session{process: p, instance: instance, lanes: lanes}
	if _, open := p.instances.LoadOrStore(instance, true); open {
		return nil, p.failure(0, fmt.Errorf("%w: it answered with the handle %d, which another open instance has; every instance needs one of its own", ErrProtocol, instance))
	}
	if p.socket != nil {
		s.carrier = &socketCarrier{process: cmp.Or(p.host, p), instance: instance, kind: kind, most: most}
		return s, nil
	}
	c := &streamCarrier{process: p}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	c.unlink = context.AfterFunc(p.ctx, func() { c.cancel(context.Cause(p.ctx)) })
	c.watchdog = newWatchdog(p.callTimeout, func() { p.timeout(p.callTimeout, "call") })
	defer c.watchdog.stop()
	var err error
	if c.stream, err = start(c.ctx, grpc.MaxCallRecvMsgSize(most)); err != nil {
		c.unlink()
		p.instances.Delete(instance)
		return nil, p.failure(0, p.explain(c.ctx, err))
	}
	s.carrier = c
	return s, nil
}

// streamCarrier carries steps over gRPC.
type streamCarrier struct {
	process  *Process
	stream   grpc.ClientStream
	ctx      context.Context // of the stream
	cancel   context.CancelCauseFunc
	unlink   func() bool // from the process's context
	watchdog *watchdog
}

func (c *streamCarrier) exchange(request proto.Message, reply stepReply) error {
	c.watchdog.start()
	err := c.stream.SendMsg(request)
	if err == nil || errors.Is(err, io.EOF) { // after io.EOF, receiving says why
		err = c.stream.RecvMsg(reply)
	}
	c.watchdog.stop()
	if err != nil {
		return c.process.explain(c.ctx, err)
	}
	return nil
}

func (c *streamCarrier) abandon(cause error) { c.cancel(cause) }

func (c *streamCarrier) close(bool) {
	c.unlink()
	c.cancel(ErrClosed)
}

// socketCarrier carries steps over the socket of a process.
type socketCarrier struct {
	process  *Process
	instance uint64
	kind     wire.Kind
	most     int
}

func (c *socketCarrier) exchange(request proto.Message, reply stepReply) error {
	p := c.process
	p.stepping.Lock()
	defer p.stepping.Unlock()
	own := c.kind
	if _, ok := request.(*pb.AheadRequest); ok {
		own = wire.Ahead
	}
	err := p.socket.Send(own, request)
	var kind wire.Kind
	var data []byte
	if err == nil {
		kind, data, err = p.socket.Receive(c.most)
	}
	if err != nil {
		return p.explainSocket(err)
	}
	switch kind {
	case own:
		if err = wire.Decode(data, reply); err == nil {
			return nil
		}
		err = fmt.Errorf("%w: failed to unmarshal: %w", ErrProtocol, err)
	case wire.Refused:
		var why pb.Error
		err = fmt.Errorf("%w: %w", ErrProtocol, errors.Join(wire.Decode(data, &why), fromproto.Error(&pb.Error{Message: why.Message})))
	default:
		err = fmt.Errorf("%w: a frame of kind %d, want %d", ErrProtocol, kind, own)
	}
	p.end(err)
	return err
}

// abandon ends the process: what it answers later could be taken for another answer.
func (c *socketCarrier) abandon(cause error) { c.process.end(cause) }

func (c *socketCarrier) close(failed bool) {
	p := c.process
	if !failed || p.ctx.Err() != nil {
		return
	}
	p.stepping.Lock()
	defer p.stepping.Unlock()
	_ = p.socket.Send(wire.End, &pb.CloseRequest{Instance: c.instance}) // there is nobody left to tell
}

// next returns the number of the next step.
func (s *session) next() uint64 { return uint64(s.steps) + 1 }

// stepReply is the reply to a step.
type stepReply interface {
	proto.Message
	GetStep() uint64
}

// exchange sends a request, whose step is next(), and waits for its reply.
func (s *session) exchange(ctx context.Context, request proto.Message, reply stepReply) error {
	if s.failed != nil {
		return s.failed
	}
	s.steps++
	s.follow(ctx)
	s.active.Store(s.following)
	defer s.active.Store(0)
	if ctx.Err() != nil {
		return s.end(context.Cause(ctx))
	}
	if err := s.carrier.exchange(request, reply); err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
			return s.end(err)
		}
		return s.fail(err)
	}
	if got := reply.GetStep(); got != uint64(s.steps) {
		err := fmt.Errorf("%w: the reply is to step %d; every request gets one reply, which repeats its step", ErrProtocol, got)
		s.carrier.abandon(err)
		return s.fail(err)
	}
	if r, ok := reply.(interface{ GetError() *pb.Error }); ok && r.GetError() != nil {
		return s.fail(s.laneError(r.GetError()))
	}
	return nil
}

// follow makes the end of ctx end the stream, if a step is under way then.
func (s *session) follow(ctx context.Context) {
	done := ctx.Done()
	if done == s.done && s.following > 0 {
		return
	}
	if s.unfollow != nil {
		s.unfollow()
		s.unfollow = nil
	}
	s.done = done
	s.following++
	if done == nil {
		return
	}
	mine := s.following
	s.unfollow = context.AfterFunc(ctx, func() {
		if s.active.Load() == mine {
			s.carrier.abandon(context.Cause(ctx))
		}
	})
}

// laneError turns an error from the wire into ours. A lane that does not exist is
// an error of its own.
func (s *session) laneError(e *pb.Error) error {
	if e.Lane != nil && int(*e.Lane) >= s.lanes {
		return fmt.Errorf("%w: it blames lane %d of %d: %w", framework.ErrInvalidAnswer, *e.Lane, s.lanes, fromproto.Error(&pb.Error{Message: e.Message}))
	}
	return fromproto.Error(e)
}

// blame names all lanes if the error names none.
func (s *session) blame(err error) error {
	var lane *vector.LaneError
	switch {
	case errors.As(err, &lane) || s.decides: // whose questions are numbered anew in each call: the caller knows the lanes
		return err
	case s.lanes == 1:
		return fmt.Errorf("lane 0: %w", err)
	}
	return fmt.Errorf("lanes 0 to %d: %w", s.lanes-1, err)
}

// ask is call for an instance, whose lanes it blames where the process fails.
func ask[Q, R any](ctx context.Context, s *session, rpc func(context.Context, Q, ...grpc.CallOption) (R, error), request Q) (R, error) {
	answer, err := call(ctx, s.process, rpc, request)
	var e *Error
	if errors.As(err, &e) && (errors.Is(err, ErrDied) || errors.Is(err, ErrTimeout) || errors.Is(err, ErrProtocol)) {
		e.Err = s.blame(e.Err)
	}
	return answer, err
}

// fail records that the instance cannot be used any more, why, and whose fault it is.
func (s *session) fail(err error) error { return s.end(s.blame(err)) }

// end records that the instance cannot be used any more, and why.
func (s *session) end(err error) error {
	s.failed = s.process.failure(s.steps, err)
	return s.failed
}

// close ends the instance. A failed one has nothing more to report.
func (s *session) close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	s.process.instances.Delete(s.instance) // the plugin may use it again as soon as it knows
	if s.unfollow != nil {
		s.unfollow()
	}
	defer s.carrier.close(s.failed != nil)
	if s.failed != nil || s.process.ctx.Err() != nil {
		return nil
	}
	s.failed = &Error{Plugin: s.process.name, Err: ErrClosed}
	_, err := call(context.Background(), s.process, s.process.wire.Close, &pb.CloseRequest{Instance: s.instance})
	if e := (*Error)(nil); errors.As(err, &e) && errors.Is(err, ErrTimeout) {
		e.Err = fmt.Errorf("close did not return: %w", e.Err)
	}
	return err
}

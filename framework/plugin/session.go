package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"google.golang.org/grpc"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin/internal/fromproto"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/vector"
)

// session is the host's side of one opened instance: its stream, and the watch
// over every exchange on it. An exchange ends early when the caller's context
// does, when the deadline passes, or when the process ends.
type session struct {
	process  *Process
	instance uint64
	lanes    int
	stream   grpc.ClientStream
	ctx      context.Context // of the stream
	cancel   context.CancelCauseFunc
	unlink   func() bool // from the process's context
	watchdog *watchdog
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

// open starts a session with the stream that start opens.
func (p *Process) open(instance uint64, lanes int, start func(context.Context, ...grpc.CallOption) (grpc.ClientStream, error)) (*session, error) {
	s := &session{process: p, instance: instance, lanes: lanes}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.unlink = context.AfterFunc(p.ctx, func() { s.cancel(context.Cause(p.ctx)) })
	s.watchdog = newWatchdog(p.callTimeout, func() { p.timeout(p.callTimeout, "call") })
	defer s.watchdog.stop()
	var err error
	if s.stream, err = start(s.ctx); err != nil {
		s.unlink()
		return nil, p.failure(0, p.explain(s.ctx, err))
	}
	return s, nil
}

// next returns the number of the next step.
func (s *session) next() uint64 { return uint64(s.steps) + 1 }

// stepReply is the reply to a step.
type stepReply interface {
	reply
	GetStep() uint64
}

// exchange sends a request, whose step is next(), and waits for its reply.
func (s *session) exchange(ctx context.Context, request any, reply stepReply) error {
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
	s.watchdog.start()
	err := s.stream.SendMsg(request)
	if err == nil || errors.Is(err, io.EOF) { // after io.EOF, receiving says why
		err = s.stream.RecvMsg(reply)
	}
	s.watchdog.stop()
	if err != nil {
		err = s.process.explain(s.ctx, err)
		if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
			return s.end(err)
		}
		return s.fail(err)
	}
	if e := reply.GetError(); e != nil {
		return s.fail(s.laneError(e))
	}
	if got := reply.GetStep(); got != uint64(s.steps) {
		return s.fail(fmt.Errorf("%w: the reply is to step %d; every request gets one reply, which repeats its step", ErrProtocol, got))
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
			s.cancel(context.Cause(ctx))
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
	var lanes *vector.LanesError
	if errors.As(err, &lane) || errors.As(err, &lanes) {
		return err
	}
	return &vector.LanesError{To: s.lanes, Err: err}
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

// close ends the instance. A failed one has nothing more to report: the plugin
// closes it when it sees that the stream is gone.
func (s *session) close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	s.unlink()
	if s.unfollow != nil {
		s.unfollow()
	}
	defer s.cancel(ErrClosed)
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

package plugin

import (
	"context"
	"errors"
	"fmt"
	"image"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin/internal/fromproto"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/plugin/internal/toproto"
	"github.com/rlrun/rlrun/framework/vector"
)

func (c *environmentClient) render(ctx context.Context, lane int) (string, error) {
	if err := c.session.lane(lane); err != nil {
		return "", err
	}
	reply, err := c.draw(ctx, &pb.RenderRequest{Lane: uint32(lane)}, replySlack)
	return reply.GetText(), err
}

func (c *environmentClient) renderFrame(ctx context.Context, lane int) (image.Image, error) {
	if err := c.session.lane(lane); err != nil {
		return nil, err
	}
	p := c.session.process
	reply, err := c.draw(ctx, &pb.RenderRequest{Lane: uint32(lane), Frame: true}, replySlack+3*vector.MaxFrameSide*vector.MaxFrameSide)
	if err != nil {
		return nil, err
	}
	if reply.Frame == nil {
		return nil, p.failure(0, fmt.Errorf("%w: the reply has no frame", framework.ErrInvalidAnswer))
	}
	frame, err := fromproto.Frame(reply.Frame)
	if err != nil {
		return nil, p.failure(0, fmt.Errorf("%w: %w", framework.ErrInvalidAnswer, err))
	}
	return frame, nil
}

// draw makes the call Render, whose reply has most bytes at most.
func (c *environmentClient) draw(ctx context.Context, request *pb.RenderRequest, most int) (*pb.RenderReply, error) {
	request.Instance = c.session.instance
	return optional(ctx, c.session, func(ctx context.Context, m *pb.RenderRequest, o ...grpc.CallOption) (*pb.RenderReply, error) {
		return c.session.process.wire.Render(ctx, m, append(o, grpc.MaxCallRecvMsgSize(most))...)
	}, request)
}

// rollOut asks a plugin that does not know the call once.
func (c *environmentClient) rollOut(ctx context.Context, in *vector.Rollout, out *vector.Trajectories) error {
	s := c.session
	if c.unrolled != nil {
		return c.unrolled
	}
	if err := in.Check(&c.spec); err != nil {
		return err
	}
	if s.failed != nil {
		return s.failed
	}
	most := grpc.MaxCallRecvMsgSize(replySlack + s.lanes*in.Steps*(1+8+8+8+1+1))
	rpc := func(ctx context.Context, m *pb.RolloutRequest, o ...grpc.CallOption) (*pb.RolloutReply, error) {
		return s.process.wire.Rollout(ctx, m, append(o, most)...)
	}
	reply, err := optional(ctx, s, rpc, toproto.Rollout(s.instance, in))
	if errors.Is(err, framework.ErrUnsupported) {
		c.unrolled = err
		return err
	}
	if err == nil {
		if err = fromproto.Trajectories(out, reply); err != nil {
			err = s.process.failure(0, fmt.Errorf("%w: %w", framework.ErrInvalidAnswer, err))
		} else if err = out.Check(&c.spec, in); err != nil {
			err = s.process.failure(0, err)
		}
	}
	var e *Error
	if ctx.Err() == nil && errors.As(err, &e) {
		e.Err = s.blame(e.Err)
	}
	s.failed = err
	return err
}

func (c *agentClient) save(ctx context.Context, lane int) ([]byte, error) {
	if err := c.session.lane(lane); err != nil {
		return nil, err
	}
	wire := c.session.process.wire
	reply, err := optional(ctx, c.session, wire.Save, &pb.SaveRequest{Instance: c.session.instance, Lane: uint32(lane)})
	return reply.GetState(), err
}

func (c *agentClient) load(ctx context.Context, lane int, state []byte) error {
	if err := c.session.lane(lane); err != nil {
		return err
	}
	wire := c.session.process.wire
	_, err := optional(ctx, c.session, wire.Load, &pb.LoadRequest{Instance: c.session.instance, Lane: uint32(lane), State: state})
	return err
}

// measures are the metrics that an opened instance declared; nil if it has none.
func (s *session) measures(metrics []framework.Metric) *vector.Measures {
	if len(metrics) == 0 {
		return nil
	}
	return &vector.Measures{Metrics: metrics, Read: func(ctx context.Context, lanes []int, dst []float64) error {
		request := &pb.MeasureRequest{Instance: s.instance, Lanes: make([]uint32, len(lanes))}
		for k, lane := range lanes {
			request.Lanes[k] = uint32(lane)
		}
		reply, err := ask(ctx, s, s.process.wire.Measure, request)
		if err != nil {
			return err
		}
		if err := fromproto.Measured(dst, reply.Values); err != nil {
			return s.fail(fmt.Errorf("%w: %w", framework.ErrInvalidAnswer, err))
		}
		return nil
	}}
}

// lane checks a lane's number.
func (s *session) lane(i int) error {
	if i < 0 || i >= s.lanes {
		return s.process.failure(s.steps, fmt.Errorf("no lane %d of %d", i, s.lanes))
	}
	return nil
}

// optional makes a call that a plugin need not implement; then the error wraps
// framework.ErrUnsupported.
func optional[Q, R any](ctx context.Context, s *session, rpc func(context.Context, Q, ...grpc.CallOption) (R, error), request Q) (R, error) {
	missing := false
	reply, err := ask(ctx, s, func(ctx context.Context, q Q, o ...grpc.CallOption) (R, error) {
		reply, err := rpc(ctx, q, o...)
		missing = status.Code(err) == codes.Unimplemented
		return reply, err
	}, request)
	if missing {
		err = s.process.failure(0, fmt.Errorf("the plugin does not implement the call: %w", framework.ErrUnsupported))
	}
	return reply, err
}

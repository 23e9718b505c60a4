package plugin

import (
	"context"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin/internal/fromproto"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/vector"
)

// calls are the abilities that an opened instance listed. An answer has most bytes at most.
func (s *session) calls(abilities []string, most int) vector.Calls {
	calls := vector.Calls{}
	for _, ability := range abilities {
		calls[ability] = func(ctx context.Context, lane int, question []byte) ([]byte, error) {
			if err := s.lane(lane); err != nil {
				return nil, err
			}
			rpc := func(ctx context.Context, m *pb.AskRequest, o ...grpc.CallOption) (*pb.AskReply, error) {
				return s.process.wire.Ask(ctx, m, append(o, grpc.MaxCallRecvMsgSize(most))...)
			}
			reply, err := optional(ctx, s, rpc, &pb.AskRequest{Instance: s.instance, Lane: uint32(lane), Ability: ability, Question: question})
			return reply.GetAnswer(), err
		}
	}
	return calls
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
		if err := fromproto.Numbers(dst, "values of metrics", reply.Values); err != nil {
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

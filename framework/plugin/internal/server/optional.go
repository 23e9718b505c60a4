package server

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/plugin/internal/toproto"
	"github.com/rlrun/rlrun/framework/space"
)

// Ask implements pb.PluginServer.
func (s *Server) Ask(ctx context.Context, m *pb.AskRequest) (*pb.AskReply, error) {
	i, err := lookup[instance](s, m.Instance)
	if err != nil {
		return nil, err
	}
	o := i.common()
	ask := o.calls[m.Ability]
	if ask == nil {
		return nil, status.Errorf(codes.InvalidArgument, "the instance has no ability %q", m.Ability)
	}
	var reply pb.AskReply
	reply.Error, err = o.inLane(m.Lane, func(lane int) (err error) {
		reply.Answer, err = ask(ctx, lane, m.Question)
		return err
	})
	return &reply, err
}

// inLane calls the author's code for a lane. Errors of that code are answered in band;
// the other error is a gRPC status.
func (o *opened) inLane(lane uint32, f func(lane int) error) (*pb.Error, error) {
	if int64(lane) >= int64(o.lanes) {
		return nil, status.Errorf(codes.InvalidArgument, "lane %d of %d", lane, o.lanes)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return toproto.Error(run(func() error { return f(int(lane)) })), nil
}

// Measure implements pb.PluginServer.
func (s *Server) Measure(ctx context.Context, m *pb.MeasureRequest) (*pb.MeasureReply, error) {
	i, err := lookup[instance](s, m.Instance)
	if err != nil {
		return nil, err
	}
	o := i.common()
	if o.measures == nil {
		return nil, status.Error(codes.InvalidArgument, "the instance has no metrics")
	}
	which := make([]int, len(m.Lanes))
	for k, lane := range m.Lanes {
		if uint64(lane) >= uint64(o.lanes) || k > 0 && lane <= m.Lanes[k-1] {
			return nil, status.Errorf(codes.InvalidArgument, "lanes %v of %d; they must increase", m.Lanes, o.lanes)
		}
		which[k] = int(lane)
	}
	values := make([]float64, len(which)*len(o.measures.Metrics))
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := run(func() error { return o.measures.Read(ctx, which, values) }); err != nil {
		return &pb.MeasureReply{Error: toproto.Error(err)}, nil
	}
	return &pb.MeasureReply{Values: space.AppendNumbers(nil, values)}, nil
}

package server

import (
	"context"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/rlrun/rlrun/framework/plugin/internal/fromproto"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/plugin/internal/toproto"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// Render implements pb.PluginServer.
func (s *Server) Render(ctx context.Context, m *pb.RenderRequest) (*pb.RenderReply, error) {
	e, err := lookup[*environmentInstance](s, m.Instance)
	if err != nil {
		return nil, err
	}
	var reply pb.RenderReply
	reply.Error, err = inLane(&e.mu, m.Lane, len(e.in.Signals), func(lane int) (err error) {
		if !m.Frame {
			reply.Text, err = vector.Render(ctx, e.env, lane)
			return err
		}
		frame, err := vector.RenderFrame(ctx, e.env, lane)
		if err == nil {
			reply.Frame = toproto.Frame(frame)
		}
		return err
	})
	return &reply, err
}

// Rollout implements pb.PluginServer.
func (s *Server) Rollout(ctx context.Context, m *pb.RolloutRequest) (*pb.RolloutReply, error) {
	e, err := lookup[*environmentInstance](s, m.Instance)
	if err != nil {
		return nil, err
	}
	lanes := len(e.in.Signals)
	in, err := fromproto.Rollout(m, e.spec, lanes)
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	out := vector.NewTrajectories(e.spec, lanes, in.Steps)
	if err := run(func() error { return vector.RollOut(s.noting(ctx, m.Instance), e.env, in, out) }); err != nil {
		return &pb.RolloutReply{Error: toproto.Error(err)}, nil
	}
	return toproto.Trajectories(out), nil
}

// Save implements pb.PluginServer.
func (s *Server) Save(ctx context.Context, m *pb.SaveRequest) (*pb.SaveReply, error) {
	a, err := lookup[*agentInstance](s, m.Instance)
	if err != nil {
		return nil, err
	}
	var reply pb.SaveReply
	reply.Error, err = inLane(&a.mu, m.Lane, len(a.in.Signals), func(lane int) (err error) {
		reply.State, err = vector.Save(ctx, a.agent, lane)
		return err
	})
	return &reply, err
}

// Load implements pb.PluginServer.
func (s *Server) Load(ctx context.Context, m *pb.LoadRequest) (*pb.LoadReply, error) {
	a, err := lookup[*agentInstance](s, m.Instance)
	if err != nil {
		return nil, err
	}
	var reply pb.LoadReply
	reply.Error, err = inLane(&a.mu, m.Lane, len(a.in.Signals), func(lane int) error {
		return vector.Load(ctx, a.agent, lane, m.State)
	})
	return &reply, err
}

// inLane calls the author's code for a lane of an instance, whose lock is mu. Errors of
// that code are answered in band; the other error is a gRPC status.
func inLane(mu *sync.Mutex, lane uint32, lanes int, f func(lane int) error) (*pb.Error, error) {
	if int64(lane) >= int64(lanes) {
		return nil, status.Errorf(codes.InvalidArgument, "lane %d of %d", lane, lanes)
	}
	mu.Lock()
	defer mu.Unlock()
	return toproto.Error(run(func() error { return f(int(lane)) })), nil
}

// Measure implements pb.PluginServer.
func (s *Server) Measure(ctx context.Context, m *pb.MeasureRequest) (*pb.MeasureReply, error) {
	s.mu.Lock()
	i := s.instances[m.Instance]
	s.mu.Unlock()
	var mu *sync.Mutex
	var measures *vector.Measures
	lanes := 0
	switch x := i.(type) {
	case *environmentInstance:
		mu, measures, lanes = &x.mu, x.env.Abilities().Measures, len(x.in.Signals)
	case *agentInstance:
		mu, measures, lanes = &x.mu, x.agent.Abilities().Measures, len(x.in.Signals)
	default:
		return nil, status.Errorf(codes.NotFound, "no instance has the handle %d", m.Instance)
	}
	if measures == nil {
		return nil, status.Error(codes.InvalidArgument, "the instance has no metrics")
	}
	which := make([]int, len(m.Lanes))
	for k, lane := range m.Lanes {
		if uint64(lane) >= uint64(lanes) || k > 0 && lane <= m.Lanes[k-1] {
			return nil, status.Errorf(codes.InvalidArgument, "lanes %v of %d; they must increase", m.Lanes, lanes)
		}
		which[k] = int(lane)
	}
	values := make([]float64, len(which)*len(measures.Metrics))
	mu.Lock()
	defer mu.Unlock()
	if err := run(func() error { return measures.Read(s.noting(ctx, m.Instance), which, values) }); err != nil {
		return &pb.MeasureReply{Error: toproto.Error(err)}, nil
	}
	return &pb.MeasureReply{Values: space.AppendNumbers(nil, values)}, nil
}

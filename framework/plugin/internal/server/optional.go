package server

import (
	"context"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin/internal/fromproto"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/plugin/internal/toproto"
)

// Render implements pb.PluginServer.
func (s *Server) Render(ctx context.Context, m *pb.RenderRequest) (*pb.RenderReply, error) {
	e, err := lookup[*environmentInstance](s, m.Instance)
	if err != nil {
		return nil, err
	}
	lane, err := laneOf(m.Lane, len(e.in.Signals))
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	var reply pb.RenderReply
	reply.Error = toproto.Error(run(func() (err error) {
		reply.Text, err = framework.Render(ctx, e.env, lane)
		return err
	}))
	return &reply, nil
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
	out := framework.NewTrajectories(e.spec, lanes, in.Steps)
	if err := run(func() error { return framework.RollOut(s.noting(ctx, m.Instance), e.env, in, out) }); err != nil {
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
	lane, err := laneOf(m.Lane, len(a.in.Signals))
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	var reply pb.SaveReply
	reply.Error = toproto.Error(run(func() (err error) {
		reply.State, err = framework.Save(ctx, a.agent, lane)
		return err
	}))
	return &reply, nil
}

// Load implements pb.PluginServer.
func (s *Server) Load(ctx context.Context, m *pb.LoadRequest) (*pb.LoadReply, error) {
	a, err := lookup[*agentInstance](s, m.Instance)
	if err != nil {
		return nil, err
	}
	lane, err := laneOf(m.Lane, len(a.in.Signals))
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return &pb.LoadReply{Error: toproto.Error(run(func() error {
		return framework.Load(ctx, a.agent, lane, m.State)
	}))}, nil
}

func laneOf(lane uint32, lanes int) (int, error) {
	if int64(lane) >= int64(lanes) {
		return 0, status.Error(codes.InvalidArgument, fmt.Sprintf("lane %d of %d", lane, lanes))
	}
	return int(lane), nil
}

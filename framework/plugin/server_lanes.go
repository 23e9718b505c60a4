package plugin

import (
	"context"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin/internal/fromproto"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/plugin/internal/toproto"
	"github.com/rlrun/rlrun/framework/space"
)

// environmentServer is an opened environment in the plugin's process. Its
// columns and messages are used again at every step.
type environmentServer struct {
	mu    sync.Mutex // one call at a time
	env   framework.VectorEnvironment
	spec  framework.Spec
	in    *framework.Actions
	out   framework.TimeSteps
	reply pb.EnvironmentReply
}

func newEnvironmentServer(env framework.VectorEnvironment, lanes int) *environmentServer {
	spec := env.Spec()
	return &environmentServer{
		env: env, spec: spec, in: framework.NewActions(spec, lanes), out: framework.NewTimeSteps(spec, lanes),
	}
}

// step decodes a request, steps the lanes and encodes the reply, which is valid
// until the next call. The error is a gRPC status: the host broke the protocol.
func (e *environmentServer) step(ctx context.Context, m *pb.EnvironmentRequest) (*pb.EnvironmentReply, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.decode(m); err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	r := &e.reply
	r.Step = m.Step
	if err := run(func() error { return e.env.Step(ctx, e.in, &e.out) }); err != nil {
		return &pb.EnvironmentReply{Step: m.Step, Error: toproto.Error(err)}, nil
	}
	r.Observations = e.out.Observations.AppendBytes(r.Observations[:0])
	r.Rewards = space.AppendNumbers(r.Rewards[:0], e.out.Rewards)
	r.Terminated = toproto.Flags(r.Terminated[:0], e.out.Terminated)
	r.Truncated = toproto.Flags(r.Truncated[:0], e.out.Truncated)
	return r, nil
}

func (e *environmentServer) decode(m *pb.EnvironmentRequest) error {
	if err := fromproto.Signals(e.in.Signals, m.Signals, framework.NewRun); err != nil {
		return err
	}
	if err := fromproto.Seeds(e.in.Seeds, m.Seeds, e.in.Signals, framework.NewEpisode); err != nil {
		return err
	}
	return e.in.Actions.SetBytes(m.Actions)
}

func (e *environmentServer) close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.env.Close()
}

// agentServer is an opened agent in the plugin's process.
type agentServer struct {
	mu      sync.Mutex // one call at a time
	agent   framework.VectorAgent
	in      *framework.Feedback
	actions space.Column
	reply   pb.AgentReply
	options *optionServer // nil if the agent has none
}

func newAgentServer(agent framework.VectorAgent, spec framework.Spec, lanes int) *agentServer {
	a := &agentServer{
		agent: agent, in: framework.NewFeedback(spec, lanes), actions: space.NewColumn(spec.Action, lanes),
	}
	if able, ok := agent.(framework.OptionAgent); ok {
		a.options = newOptionServer(able, lanes)
	}
	return a
}

// step is as environmentServer.step.
func (a *agentServer) step(ctx context.Context, m *pb.AgentRequest) (*pb.AgentReply, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.options != nil {
		return a.decide(ctx, m)
	}
	if err := a.decode(m); err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	if len(m.Epochs)+len(m.Choices) > 0 {
		return nil, status.Error(codes.InvalidArgument, "epochs or choices for an agent without options")
	}
	if err := run(func() error { return a.agent.Step(ctx, a.in, &a.actions) }); err != nil {
		return &pb.AgentReply{Step: m.Step, Error: toproto.Error(err)}, nil
	}
	a.reply.Step = m.Step
	a.reply.Actions = a.actions.AppendBytes(a.reply.Actions[:0])
	return &a.reply, nil
}

func (a *agentServer) decode(m *pb.AgentRequest) error {
	if err := fromproto.Signals(a.in.Signals, m.Signals, framework.Evaluate); err != nil {
		return err
	}
	if err := fromproto.Seeds(a.in.Seeds, m.Seeds, a.in.Signals, framework.NewRun); err != nil {
		return err
	}
	if err := a.in.Observations.SetBytes(m.Observations); err != nil {
		return err
	}
	if err := fromproto.Rewards(a.in.Rewards, m.Rewards); err != nil {
		return err
	}
	if err := fromproto.Flags(a.in.Terminated, "terminated", m.Terminated); err != nil {
		return err
	}
	return fromproto.Flags(a.in.Truncated, "truncated", m.Truncated)
}

func (a *agentServer) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.agent.Close()
}

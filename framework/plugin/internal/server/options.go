package server

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/rlrun/rlrun/framework/plugin/internal/fromproto"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/plugin/internal/toproto"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/options"
)

// optionPart is the part of an agentInstance whose agent has options.
type optionPart struct {
	agent    vector.OptionAgent
	epochs   []bool
	problems []options.Problem
	choices  []int
	names    map[string]uint32 // of options, with their numbers on the stream
	greedy   []int
}

func newOptionPart(agent vector.OptionAgent, lanes int) *optionPart {
	return &optionPart{
		agent: agent, epochs: make([]bool, lanes), problems: make([]options.Problem, lanes),
		names: map[string]uint32{},
	}
}

// decide is agentInstance.step for an option agent.
func (a *agentInstance) decide(ctx context.Context, m *pb.AgentRequest) (*pb.AgentReply, error) {
	o := a.options
	var err error
	if len(m.Choices) > 0 {
		if o.choices, err = fromproto.Int32s(o.choices, "choices", m.Choices, a.lanes); err != nil {
			return nil, broken(err)
		}
		clear(o.epochs)
		err = run(func() error { return o.agent.Choose(ctx, o.choices, &a.actions) })
	} else {
		if err := a.decode(m); err != nil {
			return nil, broken(err)
		}
		if err := fromproto.Flags(o.epochs, "epochs", m.Epochs); err != nil {
			return nil, broken(err)
		}
		err = run(func() error { return o.agent.StepOptions(ctx, a.in, o.epochs, &a.actions, o.problems) })
	}
	if err == nil {
		err = toproto.Decisions(&a.reply, o.epochs, o.problems, o.names)
	}
	if err != nil {
		return &pb.AgentReply{Step: m.Step, Error: toproto.Error(err)}, nil
	}
	a.reply.Step = m.Step
	a.reply.Actions = toproto.Column(a.reply.Actions[:0], &a.actions)
	return &a.reply, nil
}

// SetOptionKinds implements pb.PluginServer.
func (s *Server) SetOptionKinds(ctx context.Context, m *pb.SetOptionKindsRequest) (*pb.SetOptionKindsReply, error) {
	a, err := optionAgent(s, m.Instance)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return &pb.SetOptionKindsReply{Error: toproto.Error(run(func() error {
		kinds, err := fromproto.Kinds(m.Kinds)
		if err != nil {
			return err
		}
		return a.options.agent.SetOptionKinds(ctx, kinds)
	}))}, nil
}

// GreedyPolicy implements pb.PluginServer.
func (s *Server) GreedyPolicy(ctx context.Context, m *pb.GreedyPolicyRequest) (*pb.GreedyPolicyReply, error) {
	a, err := optionAgent(s, m.Instance)
	if err != nil {
		return nil, err
	}
	var reply pb.GreedyPolicyReply
	reply.Error, err = a.inLane(m.Lane, func(lane int) (err error) {
		o := a.options
		if o.greedy, err = o.agent.GreedyPolicy(ctx, lane, o.greedy); err == nil {
			reply.Actions = toproto.Int32s(nil, o.greedy)
		}
		return err
	})
	return &reply, err
}

// optionAgent returns the instance behind a handle, which must have options.
func optionAgent(s *Server, handle uint64) (*agentInstance, error) {
	a, err := lookup[*agentInstance](s, handle)
	if err == nil && a.options == nil {
		err = status.Error(codes.InvalidArgument, "the agent has no options")
	}
	return a, err
}

// Package server is the plugin's side of the connection. It answers the calls of
// plugin.proto with a vector.Plugin and the instances that have been opened, and
// ends the process when its host is gone. It imports framework and its contract
// packages, go-plugin, gRPC and the internal packages that encode and decode.
package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"reflect"
	"slices"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/rlrun/rlrun/framework/plugin/internal/fromproto"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/plugin/internal/toproto"
	"github.com/rlrun/rlrun/framework/plugin/internal/wire"
	"github.com/rlrun/rlrun/framework/vector"
)

// Server implements the service with a vector.Plugin and the instances that have
// been opened.
type Server struct {
	pb.UnimplementedPluginServer
	pb.UnimplementedDecisionsServer
	plugin vector.Plugin

	mu        sync.Mutex
	last      uint64 // handle given out last
	instances map[uint64]instance
}

// instance is an *environmentInstance, an *agentInstance, a *ruleInstance or a *sourceInstance.
type instance interface{ common() *opened }

// opened is what instances have in common.
type opened struct {
	mu       sync.Mutex // one call at a time
	end      interface{ Close() error }
	lanes    int
	measures *vector.Measures
	calls    vector.Calls
}

func (o *opened) common() *opened { return o }

func (o *opened) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.end.Close()
}

// abilities are the names of the calls.
func (o *opened) abilities() []string { return slices.Sorted(maps.Keys(o.calls)) }

var _ pb.PluginServer = (*Server)(nil)

// New returns a server of p. The caller calls CloseAll at the end.
func New(p vector.Plugin) *Server {
	return &Server{plugin: p, instances: map[uint64]instance{}}
}

func (s *Server) add(i instance) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.instances[s.last] = i
	return s.last
}

// lookup returns the instance behind a handle, which must be of type T.
func lookup[T instance](s *Server, handle uint64) (T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.instances[handle].(T)
	if !ok {
		return i, status.Errorf(codes.NotFound, "no %v has the handle %d", reflect.TypeFor[T](), handle)
	}
	return i, nil
}

// remove forgets an instance and returns it, nil if there is none.
func (s *Server) remove(handle uint64) instance {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.instances[handle]
	delete(s.instances, handle)
	return i
}

// drop ends an instance whose stream has ended, unless the host has closed it.
func (s *Server) drop(handle uint64) {
	if i := s.remove(handle); i != nil {
		if err := run(i.common().close); err != nil {
			fmt.Fprintln(os.Stderr, "closing:", err)
		}
	}
}

// CloseAll ends all instances. Their errors have no one left to go to.
func (s *Server) CloseAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range s.instances {
		_ = vector.Guard(i.common().close)
	}
	clear(s.instances)
}

// Describe implements pb.PluginServer.
func (s *Server) Describe(ctx context.Context, _ *pb.DescribeRequest) (*pb.DescribeReply, error) {
	d, err := s.plugin.Describe(ctx)
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return toproto.Description(d), nil
}

// OpenEnvironment implements pb.PluginServer.
func (s *Server) OpenEnvironment(ctx context.Context, m *pb.OpenEnvironmentRequest) (*pb.OpenEnvironmentReply, error) {
	lanes, err := laneCount(m.Lanes)
	if err != nil {
		return nil, err
	}
	var reply pb.OpenEnvironmentReply
	err = run(func() error {
		env, err := s.plugin.OpenEnvironment(ctx, json.RawMessage(m.Params), lanes)
		if err != nil {
			return err
		}
		spec := env.Spec()
		if err := spec.Validate(); err != nil {
			return errors.Join(err, env.Close())
		}
		if reply.Spec, err = toproto.Spec(spec); err != nil {
			return errors.Join(err, env.Close())
		}
		able := env.Abilities()
		e := newEnvironmentInstance(env, lanes)
		reply.Models, reply.Metrics, reply.Abilities = able.Models != nil, toproto.Metrics(able.Measures), e.abilities()
		reply.Instance = s.add(e)
		return nil
	})
	reply.Error = toproto.Error(err)
	return &reply, nil
}

// OpenAgent implements pb.PluginServer.
func (s *Server) OpenAgent(ctx context.Context, m *pb.OpenAgentRequest) (*pb.OpenAgentReply, error) {
	lanes, err := laneCount(m.Lanes)
	if err != nil {
		return nil, err
	}
	spec, err := fromproto.Spec(m.Spec)
	if err != nil {
		return nil, broken(err)
	}
	if spec.Actors > 1 && lanes%spec.Actors != 0 {
		return nil, broken(fmt.Errorf("%d lanes; with %d actors it must be a multiple of them", lanes, spec.Actors))
	}
	var reply pb.OpenAgentReply
	err = run(func() error {
		agent, err := s.plugin.OpenAgent(ctx, json.RawMessage(m.Params), spec, lanes)
		if err != nil {
			return err
		}
		able := agent.Abilities()
		a := newAgentInstance(agent, spec, lanes)
		reply.Options, reply.Greedy, reply.Masks, reply.Metrics, reply.Abilities = able.Options != nil, able.Greedy, able.Masks, toproto.Metrics(able.Measures), a.abilities()
		reply.Instance = s.add(a)
		return nil
	})
	reply.Error = toproto.Error(err)
	return &reply, nil
}

// Models implements pb.PluginServer.
func (s *Server) Models(ctx context.Context, m *pb.ModelsRequest) (*pb.ModelsReply, error) {
	e, err := lookup[*environmentInstance](s, m.Instance)
	if err != nil {
		return nil, err
	}
	var reply pb.ModelsReply
	err = run(func() error { return e.models(ctx, &reply) })
	reply.Error = toproto.Error(err)
	return &reply, nil
}

// Close implements pb.PluginServer.
func (s *Server) Close(_ context.Context, m *pb.CloseRequest) (*pb.CloseReply, error) {
	i := s.remove(m.Instance)
	if i == nil {
		return nil, status.Errorf(codes.NotFound, "no instance has the handle %d", m.Instance)
	}
	return &pb.CloseReply{Error: toproto.Error(run(i.common().close))}, nil
}

// StepEnvironment implements pb.PluginServer.
func (s *Server) StepEnvironment(stream pb.Plugin_StepEnvironmentServer) error {
	return serveSteps(s, stream, &pb.EnvironmentRequest{}, (*environmentInstance).step)
}

// StepAgent implements pb.PluginServer.
func (s *Server) StepAgent(stream pb.Plugin_StepAgentServer) error {
	return serveSteps(s, stream, &pb.AgentRequest{}, (*agentInstance).step)
}

// serveSteps answers the requests of a stream, which are all for one instance. Each is
// read into request.
func serveSteps[I instance, Request interface{ GetInstance() uint64 }, Reply any](s *Server, stream grpc.ServerStream,
	request Request, step func(I, context.Context, Request) (Reply, error)) error {
	ctx := stream.Context()
	var served I
	for begun := false; ; {
		if err := stream.RecvMsg(request); err != nil {
			return ended(err)
		}
		if !begun {
			var err error
			if served, err = lookup[I](s, request.GetInstance()); err != nil {
				return err
			}
			defer s.drop(request.GetInstance())
			begun = true
		}
		reply, err := step(served, ctx, request)
		if err != nil {
			return err
		}
		if err := stream.SendMsg(reply); err != nil {
			return err
		}
	}
}

// ServeSocket answers the steps that come over a socket until its other end is closed.
func (s *Server) ServeSocket(socket *wire.Socket) error {
	var end pb.CloseRequest
	environments := stepper[*environmentInstance, *pb.EnvironmentRequest, *pb.EnvironmentReply]{server: s, request: &pb.EnvironmentRequest{}, step: (*environmentInstance).step}
	agents := stepper[*agentInstance, *pb.AgentRequest, *pb.AgentReply]{server: s, request: &pb.AgentRequest{}, step: (*agentInstance).step}
	rules := stepper[*ruleInstance, *pb.RuleRequest, *pb.RuleReply]{server: s, request: &pb.RuleRequest{}, step: (*ruleInstance).step}
	for {
		kind, data, err := socket.Receive(math.MaxInt32)
		if err != nil {
			return ended(err)
		}
		var reply proto.Message
		switch kind {
		case wire.EnvironmentStep:
			reply, err = environments.answer(data)
		case wire.AgentStep:
			reply, err = agents.answer(data)
		case wire.RuleStep:
			reply, err = rules.answer(data)
		case wire.End:
			if err = wire.Decode(data, &end); err == nil {
				s.drop(end.Instance)
				continue
			}
		default:
			err = status.Errorf(codes.InvalidArgument, "a frame of kind %d", kind)
		}
		if err != nil {
			err = socket.Refuse(err)
		} else {
			err = socket.Send(kind, reply)
		}
		if err != nil {
			return ended(err)
		}
	}
}

// stepper answers the requests for instances of type I that come over a socket.
type stepper[I instance, Request interface {
	proto.Message
	GetInstance() uint64
}, Reply proto.Message] struct {
	server  *Server
	request Request // each is read into it
	step    func(I, context.Context, Request) (Reply, error)
}

func (t *stepper[I, Request, Reply]) answer(data []byte) (proto.Message, error) {
	if err := wire.Decode(data, t.request); err != nil {
		return nil, broken(err)
	}
	served, err := lookup[I](t.server, t.request.GetInstance())
	if err != nil {
		return nil, err
	}
	return t.step(served, context.Background(), t.request)
}

// broken is the gRPC status of a request that breaks the protocol.
func broken(err error) error { return status.Error(codes.InvalidArgument, err.Error()) }

// ended turns the end of the host's requests into success.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func laneCount(n uint32) (int, error) {
	if n < 1 || n > math.MaxInt32 {
		return 0, status.Errorf(codes.InvalidArgument, "%d lanes; must be at least 1", n)
	}
	return int(n), nil
}

// run calls the author's code. A panic becomes an error; its stack goes to
// standard error, where the author finds it.
func run(f func() error) error {
	err := vector.Guard(f)
	var p *vector.PanicError
	if errors.As(err, &p) {
		fmt.Fprintf(os.Stderr, "%v\n%s", p, p.Stack)
	}
	return err
}

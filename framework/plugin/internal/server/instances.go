package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin/internal/fromproto"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/plugin/internal/toproto"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
)

// environmentInstance is an opened environment in the plugin's process. Its
// columns and messages are used again at every step.
type environmentInstance struct {
	opened
	env   vector.Environment
	spec  framework.Spec
	in    *vector.Actions
	out   vector.TimeSteps
	reply pb.EnvironmentReply
}

func newEnvironmentInstance(env vector.Environment, lanes int) *environmentInstance {
	spec, able := env.Spec(), env.Abilities()
	return &environmentInstance{
		opened: opened{end: env, lanes: lanes, measures: able.Measures, calls: able.Calls},
		env:    env, spec: spec, in: vector.NewActions(spec, lanes), out: vector.NewTimeSteps(spec, lanes),
	}
}

// step decodes a request, steps the lanes and encodes the reply, which is valid
// until the next call. The error is a gRPC status: the host broke the protocol.
func (e *environmentInstance) step(ctx context.Context, m *pb.EnvironmentRequest) (*pb.EnvironmentReply, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.decode(m); err != nil {
		return nil, broken(err)
	}
	r := &e.reply
	r.Step = m.Step
	if err := run(func() error { return e.env.Step(ctx, e.in, &e.out) }); err != nil {
		return &pb.EnvironmentReply{Step: m.Step, Error: toproto.Error(err)}, nil
	}
	r.Observations = toproto.Column(r.Observations[:0], &e.out.Observations)
	r.Rewards = space.AppendNumbers(r.Rewards[:0], e.out.Rewards)
	r.Terminated = toproto.Flags(r.Terminated[:0], e.out.Terminated)
	r.Truncated = toproto.Flags(r.Truncated[:0], e.out.Truncated)
	r.Masks = toproto.Flags(r.Masks[:0], e.out.Masks)
	return r, nil
}

func (e *environmentInstance) decode(m *pb.EnvironmentRequest) error {
	if err := fromproto.Signals(e.in.Signals, m.Signals, vector.NewRun); err != nil {
		return err
	}
	if err := fromproto.Seeds(e.in.Seeds, m.Seeds, e.in.Signals, vector.NewEpisode); err != nil {
		return err
	}
	return fromproto.Column(&e.in.Actions, m.Actions)
}

// models fills in the distinct models and which lane has which.
func (e *environmentInstance) models(ctx context.Context, reply *pb.ModelsReply) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	models, err := vector.Models(ctx, e.env)
	if err != nil {
		return err
	}
	index, texts := map[*mdp.Tabular]uint32{}, map[string]uint32{}
	for i, m := range models {
		if m == nil {
			return &vector.LaneError{Lane: i, Err: fmt.Errorf("%w: no model", framework.ErrInvalidAnswer)}
		}
		k, ok := index[m]
		if !ok {
			data, err := m.MarshalJSON()
			if err != nil {
				return err
			}
			if k, ok = texts[string(data)]; !ok { // copies that each made the same model
				k = uint32(len(reply.Models))
				texts[string(data)] = k
				reply.Models = append(reply.Models, data)
			}
			index[m] = k
		}
		reply.Lanes = append(reply.Lanes, k)
	}
	return nil
}

// agentInstance is an opened agent in the plugin's process.
type agentInstance struct {
	opened
	agent   vector.Agent
	in      *vector.Feedback
	actions space.Column
	reply   pb.AgentReply
	options *optionPart // nil if the agent has none
}

func newAgentInstance(agent vector.Agent, spec framework.Spec, lanes int) *agentInstance {
	able := agent.Abilities()
	a := &agentInstance{
		opened: opened{end: agent, lanes: lanes, measures: able.Measures, calls: able.Calls},
		agent:  agent, in: vector.NewFeedback(spec, lanes), actions: space.NewColumn(spec.Action, lanes),
	}
	if able.Options != nil {
		a.options = newOptionPart(able.Options, lanes)
	}
	return a
}

// step is as environmentInstance.step.
func (a *agentInstance) step(ctx context.Context, m *pb.AgentRequest) (*pb.AgentReply, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.options != nil {
		return a.decide(ctx, m)
	}
	if err := a.decode(m); err != nil {
		return nil, broken(err)
	}
	if len(m.Epochs)+len(m.Choices) > 0 {
		return nil, broken(errors.New("epochs or choices for an agent without options"))
	}
	if err := run(func() error { return a.agent.Step(ctx, a.in, &a.actions) }); err != nil {
		return &pb.AgentReply{Step: m.Step, Error: toproto.Error(err)}, nil
	}
	a.reply.Step = m.Step
	a.reply.Actions = toproto.Column(a.reply.Actions[:0], &a.actions)
	return &a.reply, nil
}

func (a *agentInstance) decode(m *pb.AgentRequest) error {
	if err := fromproto.Signals(a.in.Signals, m.Signals, vector.EvaluateEpisode); err != nil {
		return err
	}
	if err := fromproto.Seeds(a.in.Seeds, m.Seeds, a.in.Signals, vector.NewRun); err != nil {
		return err
	}
	if err := fromproto.TimeSteps(&a.in.TimeSteps, m); err != nil {
		return err
	}
	return fromproto.Masks(&a.in.TimeSteps, m.Masks)
}

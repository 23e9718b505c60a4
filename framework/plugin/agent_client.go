package plugin

import (
	"context"
	"fmt"
	"math"
	"slices"

	"google.golang.org/grpc"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin/internal/fromproto"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/plugin/internal/toproto"
	"github.com/rlrun/rlrun/framework/plugin/internal/wire"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// agentClient is an agent in another process. Its answers have been checked.
type agentClient struct {
	session  *session
	spec     framework.Spec
	request  pb.AgentRequest
	reply    pb.AgentReply
	scratch  space.Column // for batches with idle lanes
	measures *vector.Measures
	calls    vector.Calls
	options  *optionPart // nil if the agent has none
	greedy   bool        // it knows vector.EvaluateEpisode
	masks    bool        // it reads them
	ahead    *ahead      // nil if it is not joined
}

var _ vector.Agent = (*agentClient)(nil)

// newAgentClient returns the client of an opened agent.
func newAgentClient(p *Process, reply *pb.OpenAgentReply, spec framework.Spec, lanes int, metrics []framework.Metric) (vector.Agent, error) {
	s, err := p.open(reply.Instance, lanes, math.MaxInt32, wire.AgentStep, func(ctx context.Context, o ...grpc.CallOption) (grpc.ClientStream, error) {
		return p.wire.StepAgent(ctx, o...)
	})
	if err != nil {
		return nil, err
	}
	c := &agentClient{
		session: s, spec: spec, scratch: space.NewColumn(spec.Action, lanes),
		measures: s.measures(metrics), calls: s.calls(reply.Abilities, math.MaxInt32), greedy: reply.Greedy, masks: reply.Masks,
	}
	c.request.Instance = reply.Instance
	if reply.Options {
		c.options = &optionPart{acting: vector.Feedback{Signals: make([]vector.Signal, lanes)}}
	}
	return c, nil
}

// Step implements vector.Agent.
func (c *agentClient) Step(ctx context.Context, in *vector.Feedback, actions *space.Column) error {
	if answered, err := c.ahead.act(ctx, in, actions); answered {
		return err
	}
	if err := c.send(ctx, in, nil); err != nil {
		return err
	}
	return c.receive(in, actions)
}

// send makes a step. Lanes with an epoch select no action. There may be none.
func (c *agentClient) send(ctx context.Context, in *vector.Feedback, epochs []bool) error {
	c.fill(in, epochs)
	return c.session.exchange(ctx, &c.request, &c.reply)
}

// fill fills in the next request.
func (c *agentClient) fill(in *vector.Feedback, epochs []bool) {
	m := &c.request
	m.Signals = toproto.Signals(m.Signals[:0], in.Signals)
	m.Seeds = toproto.Seeds(m.Seeds[:0], in.Seeds, in.Signals, vector.NewRun)
	m.Observations = toproto.Column(m.Observations[:0], &in.Observations)
	m.Rewards = space.AppendNumbers(m.Rewards[:0], in.Rewards)
	m.Terminated = toproto.Flags(m.Terminated[:0], in.Terminated)
	m.Truncated = toproto.Flags(m.Truncated[:0], in.Truncated)
	m.Masks = toproto.Flags(m.Masks[:0], in.Masks)
	m.Epochs = toproto.Flags(m.Epochs[:0], epochs)
	m.Step = c.session.next()
}

// receive reads the actions in the reply, but those of idle lanes.
func (c *agentClient) receive(in *vector.Feedback, actions *space.Column) error {
	target := actions
	idle := slices.Contains(in.Signals, vector.Idle)
	if idle {
		target = &c.scratch
	}
	if err := fromproto.Column(target, c.reply.Actions); err != nil {
		return c.session.fail(fmt.Errorf("%w: actions: %w", framework.ErrInvalidAnswer, err))
	}
	if err := in.CheckActions(&c.spec, target); err != nil {
		return c.session.fail(err)
	}
	if idle {
		for i, s := range in.Signals {
			if s == vector.Idle {
				continue
			}
			if err := actions.Set(c.spec.Action, i, target.Get(c.spec.Action, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Abilities implements vector.Agent.
func (c *agentClient) Abilities() vector.AgentAbilities {
	a := vector.AgentAbilities{Greedy: c.greedy, Masks: c.masks, Measures: c.measures, Calls: c.calls, Join: c.join}
	if c.options != nil {
		a.Options = c
	}
	return a
}

// Close implements vector.Agent.
func (c *agentClient) Close() error { return c.session.close() }

package plugin

import (
	"context"
	"fmt"
	"slices"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin/internal/fromproto"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/plugin/internal/toproto"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/options"
)

// optionPart is what a client of an agent with options needs besides.
type optionPart struct {
	acting    vector.Feedback // with the lanes that have an epoch idle
	decisions fromproto.Decisions
	choose    pb.AgentRequest
}

var _ vector.OptionAgent = (*agentClient)(nil)

// Remote says that the agent is in a process of its own: the host sends it no policies.
func (c *agentClient) Remote() {}

// SetOptionKinds implements vector.OptionAgent.
func (c *agentClient) SetOptionKinds(ctx context.Context, kinds []options.Kind) error {
	s := c.session
	_, err := optional(ctx, s, s.process.wire.SetOptionKinds, &pb.SetOptionKindsRequest{Instance: s.instance, Kinds: toproto.Kinds(kinds)})
	return err
}

// StepOptions implements vector.OptionAgent.
func (c *agentClient) StepOptions(ctx context.Context, in *vector.Feedback, epochs []bool, actions *space.Column, problems []options.Problem) error {
	if err := c.send(ctx, in, epochs); err != nil {
		return err
	}
	if err := c.options.decisions.Problems(problems, epochs, &c.reply); err != nil {
		return c.session.fail(fmt.Errorf("%w: %w", framework.ErrInvalidAnswer, err))
	}
	if !slices.Contains(epochs, true) {
		return c.receive(in, actions)
	}
	c.options.acting.TimeSteps = in.TimeSteps
	copy(c.options.acting.Signals, in.Signals)
	for i, epoch := range epochs {
		if epoch {
			c.options.acting.Signals[i] = vector.Idle
		}
	}
	return c.receive(&c.options.acting, actions)
}

// Choose implements vector.OptionAgent.
func (c *agentClient) Choose(ctx context.Context, choices []int, actions *space.Column) error {
	for i, choice := range choices {
		c.options.acting.Signals[i] = vector.Idle
		if choice >= 0 {
			c.options.acting.Signals[i] = vector.NewEpisode // what counts is that its action is used
		}
	}
	c.options.choose.Choices = toproto.Int32s(c.options.choose.Choices[:0], choices)
	c.options.choose.Instance, c.options.choose.Step = c.session.instance, c.session.next()
	if err := c.session.exchange(ctx, &c.options.choose, &c.reply); err != nil {
		return err
	}
	return c.receive(&c.options.acting, actions)
}

// GreedyPolicy implements vector.OptionAgent.
func (c *agentClient) GreedyPolicy(ctx context.Context, lane int, dst []int) ([]int, error) {
	s := c.session
	if err := s.lane(lane); err != nil {
		return dst, err
	}
	observations, ok := c.spec.Observation.(space.Discrete)
	actions, ok2 := c.spec.Action.(space.Discrete)
	if !ok || !ok2 {
		return dst, s.process.failure(s.steps, fmt.Errorf("observations and actions are not discrete: %w", framework.ErrUnsupported))
	}
	reply, err := optional(ctx, s, s.process.wire.GreedyPolicy, &pb.GreedyPolicyRequest{Instance: s.instance, Lane: uint32(lane)})
	if err != nil {
		return dst, err
	}
	dst, err = fromproto.Int32s(dst, "greedy policy", reply.Actions, int(observations.N))
	if bad := slices.IndexFunc(dst, func(a int) bool { return a < 0 || int64(a) >= actions.N }); bad >= 0 {
		err = fmt.Errorf("greedy policy: action %d in observation %d of an agent with %d actions", dst[bad], bad, actions.N)
	}
	if err != nil {
		return dst, s.fail(&vector.LaneError{Lane: lane, Err: fmt.Errorf("%w: %w", framework.ErrInvalidAnswer, err)})
	}
	return dst, nil
}

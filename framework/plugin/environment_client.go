package plugin

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/grpc"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin/internal/fromproto"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/plugin/internal/toproto"
	"github.com/rlrun/rlrun/framework/plugin/internal/wire"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
)

// environmentClient is an environment in another process. Its answers have been
// checked.
type environmentClient struct {
	session  *session
	spec     framework.Spec
	known    bool // the environment has models
	request  pb.EnvironmentRequest
	reply    pb.EnvironmentReply
	scratch  vector.TimeSteps // for batches with idle lanes
	measures *vector.Measures
	calls    vector.Calls
	ahead    *ahead // nil if it is not joined
}

var _ vector.Environment = (*environmentClient)(nil)

// replySlack is what a reply may be larger than its columns: an error's text.
const replySlack = 1 << 20

func newEnvironmentClient(p *Process, reply *pb.OpenEnvironmentReply, spec framework.Spec, lanes int, metrics []framework.Metric) (vector.Environment, error) {
	scratch := vector.NewTimeSteps(spec, lanes)
	most := replySlack + lanes*(8*spec.Observation.Width()+8+1+1) + len(scratch.Masks)
	s, err := p.open(reply.Instance, lanes, most, wire.EnvironmentStep, func(ctx context.Context, o ...grpc.CallOption) (grpc.ClientStream, error) {
		return p.wire.StepEnvironment(ctx, o...)
	})
	if err != nil {
		return nil, err
	}
	c := &environmentClient{
		session: s, spec: spec, known: reply.Models, scratch: scratch,
		measures: s.measures(metrics), calls: s.calls(reply.Abilities, replySlack+vector.MaxAnswer),
	}
	c.request.Instance = reply.Instance
	return c, nil
}

// Spec implements vector.Environment.
func (c *environmentClient) Spec() framework.Spec { return c.spec }

// Step implements vector.Environment.
func (c *environmentClient) Step(ctx context.Context, in *vector.Actions, out *vector.TimeSteps) error {
	if answered, err := c.ahead.answer(in, out); answered {
		return err
	}
	m := &c.request
	m.Signals = toproto.Signals(m.Signals[:0], in.Signals)
	m.Seeds = toproto.Seeds(m.Seeds[:0], in.Seeds, in.Signals, vector.NewEpisode)
	m.Actions = toproto.Column(m.Actions[:0], &in.Actions)
	m.Step = c.session.next()
	if err := c.session.exchange(ctx, m, &c.reply); err != nil {
		return err
	}
	target := out
	idle := slices.Contains(in.Signals, vector.Idle)
	if idle {
		target = &c.scratch
	}
	err := fromproto.TimeSteps(target, &c.reply)
	if err == nil {
		err = fromproto.Masks(target, c.reply.Masks)
	}
	if err != nil {
		return c.session.fail(fmt.Errorf("%w: %w", framework.ErrInvalidAnswer, err))
	}
	if err := target.Check(&c.spec, in.Signals); err != nil {
		return c.session.fail(err)
	}
	if idle {
		return c.scatter(in.Signals, out)
	}
	return nil
}

// scatter copies the answers of all lanes but the idle ones.
func (c *environmentClient) scatter(signals []vector.Signal, out *vector.TimeSteps) error {
	for i, s := range signals {
		if s == vector.Idle {
			continue
		}
		copy(out.Mask(i), c.scratch.Mask(i))
		out.Rewards[i], out.Terminated[i], out.Truncated[i] = c.scratch.Rewards[i], c.scratch.Terminated[i], c.scratch.Truncated[i]
		if err := out.Observations.Set(c.spec.Observation, i, c.scratch.Observations.Get(c.spec.Observation, i)); err != nil {
			return err
		}
	}
	return nil
}

// Close implements vector.Environment.
func (c *environmentClient) Close() error { return c.session.close() }

// Abilities implements vector.Environment.
func (c *environmentClient) Abilities() vector.EnvironmentAbilities {
	a := vector.EnvironmentAbilities{Measures: c.measures, Calls: c.calls}
	if c.known {
		a.Models = c.models
	}
	return a
}

func (c *environmentClient) models(ctx context.Context) ([]*mdp.Tabular, error) {
	p := c.session.process
	reply, err := ask(ctx, c.session, p.wire.Models, &pb.ModelsRequest{Instance: c.session.instance})
	if err != nil {
		return nil, err
	}
	models, err := fromproto.Models(reply, c.session.lanes)
	if err != nil {
		return nil, p.failure(0, fmt.Errorf("%w: %w", framework.ErrInvalidAnswer, err))
	}
	return models, nil
}

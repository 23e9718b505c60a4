package plugin

import (
	"context"
	"encoding/json"
	"fmt"

	"google.golang.org/grpc"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin/internal/fromproto"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/plugin/internal/toproto"
	"github.com/rlrun/rlrun/framework/plugin/internal/wire"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/options"
)

var _ vector.DecisionPlugin = (*Process)(nil)

// OpenRule implements vector.DecisionPlugin.
func (p *Process) OpenRule(ctx context.Context, params json.RawMessage, spec framework.Spec) (vector.Rule, error) {
	s, err := p.openDecisions(ctx, p.decisions.OpenRule, params, spec, func(ctx context.Context, o ...grpc.CallOption) (grpc.ClientStream, error) {
		return p.decisions.StepRule(ctx, o...)
	})
	if err != nil {
		return nil, err
	}
	return &ruleClient{session: s, names: map[string]uint32{}, request: pb.RuleRequest{Instance: s.instance}}, nil
}

// OpenOptions implements vector.DecisionPlugin.
func (p *Process) OpenOptions(ctx context.Context, params json.RawMessage, spec framework.Spec) (vector.OptionSource, error) {
	s, err := p.openDecisions(ctx, p.decisions.OpenOptions, params, spec, func(context.Context, ...grpc.CallOption) (grpc.ClientStream, error) {
		return nil, nil // it is not stepped
	})
	if err != nil {
		return nil, err
	}
	return &optionSource{s}, nil
}

func (p *Process) openDecisions(ctx context.Context, rpc func(context.Context, *pb.OpenDecisionsRequest, ...grpc.CallOption) (*pb.OpenDecisionsReply, error),
	params json.RawMessage, spec framework.Spec, stream func(context.Context, ...grpc.CallOption) (grpc.ClientStream, error)) (*session, error) {
	m, err := toproto.Spec(spec)
	if err != nil {
		return nil, p.failure(0, err)
	}
	reply, err := callWithin(ctx, p, p.openTimeout, "open", rpc, &pb.OpenDecisionsRequest{Params: params, Spec: m})
	if err != nil {
		return nil, err
	}
	s, err := p.open(reply.Instance, 0, maxDescription, wire.RuleStep, stream)
	if err == nil {
		s.decides = true
	}
	return s, err
}

// ruleClient is a rule in another process.
type ruleClient struct {
	session *session
	names   map[string]uint32
	request pb.RuleRequest
	reply   pb.RuleReply
}

// Choose implements vector.Rule.
func (c *ruleClient) Choose(ctx context.Context, questions []options.Question, answers []options.Answer) error {
	c.session.lanes = len(questions)
	toproto.Questions(&c.request, questions, c.names)
	c.request.Step = c.session.next()
	c.reply.Reset()
	if err := c.session.exchange(ctx, &c.request, &c.reply); err != nil {
		return err
	}
	if err := fromproto.Answers(answers, &c.reply); err != nil {
		return c.session.fail(fmt.Errorf("%w: %w", framework.ErrInvalidAnswer, err))
	}
	return nil
}

// Close implements vector.Rule.
func (c *ruleClient) Close() error { return c.session.close() }

// optionSource is a source of options in another process.
type optionSource struct{ session *session }

// Options implements vector.OptionSource.
func (c *optionSource) Options(ctx context.Context, seen []options.Experience, made [][]options.DeclaredOption) error {
	if len(seen) == 0 {
		return nil
	}
	s := c.session
	s.lanes = len(seen)
	s.steps++
	m := toproto.Experience(seen)
	m.Instance = s.instance
	reply, err := ask(ctx, s, s.process.decisions.MakeOptions, m)
	if err != nil {
		return err
	}
	if len(reply.Lanes) != len(seen) {
		return s.fail(fmt.Errorf("%w: options of %d lanes, want %d", framework.ErrInvalidAnswer, len(reply.Lanes), len(seen)))
	}
	for i, list := range reply.Lanes {
		if made[i], err = fromproto.OptionList(list, seen[i].States, seen[i].Actions); err != nil {
			return s.fail(&vector.LaneError{Lane: i, Err: fmt.Errorf("%w: %w", framework.ErrInvalidAnswer, err)})
		}
	}
	return nil
}

// Close implements vector.OptionSource.
func (c *optionSource) Close() error { return c.session.close() }

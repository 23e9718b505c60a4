package server

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin/internal/fromproto"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/plugin/internal/toproto"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/options"
)

var _ pb.DecisionsServer = (*Server)(nil)

// ruleInstance is an opened rule in the plugin's process.
type ruleInstance struct {
	opened
	rule      vector.Rule
	questions fromproto.Questions
	answers   []options.Answer
	reply     pb.RuleReply
}

// sourceInstance is an opened source of options.
type sourceInstance struct {
	opened
	source vector.OptionSource
}

// openDecisions opens an instance of a plugin that decides.
func (s *Server) openDecisions(m *pb.OpenDecisionsRequest, open func(vector.DecisionPlugin, framework.Spec) (instance, error)) (*pb.OpenDecisionsReply, error) {
	spec, err := fromproto.Spec(m.Spec)
	if err != nil {
		return nil, broken(err)
	}
	var reply pb.OpenDecisionsReply
	reply.Error = toproto.Error(run(func() error {
		p, ok := s.plugin.(vector.DecisionPlugin)
		if !ok {
			return fmt.Errorf("it is no rule and no source of options: %w", framework.ErrUnsupported)
		}
		i, err := open(p, spec)
		if err == nil {
			reply.Instance = s.add(i)
		}
		return err
	}))
	return &reply, nil
}

// OpenRule implements pb.DecisionsServer.
func (s *Server) OpenRule(ctx context.Context, m *pb.OpenDecisionsRequest) (*pb.OpenDecisionsReply, error) {
	return s.openDecisions(m, func(p vector.DecisionPlugin, spec framework.Spec) (instance, error) {
		rule, err := p.OpenRule(ctx, json.RawMessage(m.Params), spec)
		return &ruleInstance{opened: opened{end: rule}, rule: rule}, err
	})
}

// OpenOptions implements pb.DecisionsServer.
func (s *Server) OpenOptions(ctx context.Context, m *pb.OpenDecisionsRequest) (*pb.OpenDecisionsReply, error) {
	return s.openDecisions(m, func(p vector.DecisionPlugin, spec framework.Spec) (instance, error) {
		source, err := p.OpenOptions(ctx, json.RawMessage(m.Params), spec)
		return &sourceInstance{opened: opened{end: source}, source: source}, err
	})
}

// StepRule implements pb.DecisionsServer.
func (s *Server) StepRule(stream pb.Decisions_StepRuleServer) error {
	return serveSteps(s, stream, &pb.RuleRequest{}, (*ruleInstance).step)
}

func (r *ruleInstance) step(ctx context.Context, m *pb.RuleRequest) (*pb.RuleReply, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	questions, err := r.questions.Read(m)
	if err != nil {
		return nil, broken(err)
	}
	r.answers = append(r.answers[:0], make([]options.Answer, len(questions))...)
	if err := run(func() error { return r.rule.Choose(ctx, questions, r.answers) }); err != nil {
		return &pb.RuleReply{Step: m.Step, Error: toproto.Error(err)}, nil
	}
	toproto.Answers(&r.reply, r.answers)
	r.reply.Step = m.Step
	return &r.reply, nil
}

// MakeOptions implements pb.DecisionsServer.
func (s *Server) MakeOptions(ctx context.Context, m *pb.OptionsRequest) (*pb.OptionsReply, error) {
	x, err := lookup[*sourceInstance](s, m.Instance)
	if err != nil {
		return nil, err
	}
	seen, err := fromproto.Experience(m)
	if err != nil {
		return nil, broken(err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	made := make([][]options.DeclaredOption, len(seen))
	if err := run(func() error { return x.source.Options(ctx, seen, made) }); err != nil {
		return &pb.OptionsReply{Error: toproto.Error(err)}, nil
	}
	var reply pb.OptionsReply
	for _, list := range made {
		reply.Lanes = append(reply.Lanes, toproto.OptionList(list))
	}
	return &reply, nil
}

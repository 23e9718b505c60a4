package vector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/options"
)

// Rule decides between the options of agents, a lane a question. Answers depend on their
// questions alone.
type Rule interface {
	// Choose answers questions. An error that wraps a *LaneError names the number of the
	// question.
	Choose(ctx context.Context, questions []options.Question, answers []options.Answer) error
	// Close ends the rule.
	Close() error
}

// OptionSource makes options from what was seen, a lane an experience.
type OptionSource interface {
	// Options makes the options of lanes. Errors are as those of Rule.Choose.
	Options(ctx context.Context, seen []options.Experience, made [][]options.DeclaredOption) error
	// Close ends the source.
	Close() error
}

// Declarer is an OptionAgent that takes options of options.Declared. Its own options have the names that
// options.CheckDeclared refuses, those of kinds.
type Declarer interface {
	OptionAgent
	// Declare sets the declared options of a lane from now on, also in later runs. It is
	// called between steps, and keeps the list.
	Declare(ctx context.Context, lane int, list []options.DeclaredOption) error
}

// DecisionPlugin is a Plugin that provides rules or sources of options.
type DecisionPlugin interface {
	Plugin
	// OpenRule returns a rule for agents in environments as spec describes them.
	OpenRule(ctx context.Context, params json.RawMessage, spec framework.Spec) (Rule, error)
	// OpenOptions returns a source of options for them.
	OpenOptions(ctx context.Context, params json.RawMessage, spec framework.Spec) (OptionSource, error)
}

// RulePlugin is a DecisionPlugin in this process that provides rules of single decisions.
type RulePlugin struct {
	Description Description // with the kind rule or options
	// Rule returns a rule, and Options a source of options; one of them is nil.
	Rule    func(params json.RawMessage, spec framework.Spec) (options.Chooser, error)
	Options func(params json.RawMessage, spec framework.Spec) (options.OptionSource, error)
}

var _ DecisionPlugin = (*RulePlugin)(nil)

// Describe implements Plugin.
func (p *RulePlugin) Describe(context.Context) (Description, error) { return p.Description, nil }

// OpenEnvironment implements Plugin: it is an error.
func (p *RulePlugin) OpenEnvironment(context.Context, json.RawMessage, int) (Environment, error) {
	return nil, p.isNo("environment")
}

// OpenAgent implements Plugin: it is an error.
func (p *RulePlugin) OpenAgent(context.Context, json.RawMessage, framework.Spec, int) (Agent, error) {
	return nil, p.isNo("agent")
}

func (p *RulePlugin) isNo(kind string) error {
	return fmt.Errorf("%s is of kind %s, and no %s: %w", p.Description.ID, p.Description.Kind, kind, framework.ErrUnsupported)
}

// OpenRule implements DecisionPlugin.
func (p *RulePlugin) OpenRule(_ context.Context, params json.RawMessage, spec framework.Spec) (Rule, error) {
	if p.Rule == nil {
		return nil, p.isNo("rule")
	}
	rule, err := p.Rule(params, spec)
	if err == nil && rule == nil {
		err = errors.New("neither a rule nor an error was returned")
	}
	return eachRule(rule), err
}

// OpenOptions implements DecisionPlugin.
func (p *RulePlugin) OpenOptions(_ context.Context, params json.RawMessage, spec framework.Spec) (OptionSource, error) {
	if p.Options == nil {
		return nil, p.isNo("source of options")
	}
	source, err := p.Options(params, spec)
	if err == nil && source == nil {
		err = errors.New("neither a source nor an error was returned")
	}
	return EachOptions(source), err
}

func invalidAnswer(err error) error {
	if err != nil {
		err = fmt.Errorf("%w: %w", framework.ErrInvalidAnswer, err)
	}
	return err
}

// eachRule answers one question after the other.
type eachRule options.Chooser

func (r eachRule) Choose(_ context.Context, questions []options.Question, answers []options.Answer) error {
	return eachLane(len(questions), func(i int) (err error) {
		if answers[i], err = r(&questions[i]); err == nil {
			err = invalidAnswer(questions[i].CheckAnswer(answers[i]))
		}
		return err
	})
}

func (r eachRule) Close() error { return nil }

// EachOptions makes the options of one lane after the other.
type EachOptions options.OptionSource

// Options implements OptionSource.
func (s EachOptions) Options(_ context.Context, seen []options.Experience, made [][]options.DeclaredOption) error {
	return eachLane(len(seen), func(i int) (err error) {
		if made[i], err = s(&seen[i]); err == nil {
			err = invalidAnswer(options.CheckDeclared(made[i], seen[i].States, seen[i].Actions))
		}
		return err
	})
}

// Close implements OptionSource.
func (s EachOptions) Close() error { return nil }

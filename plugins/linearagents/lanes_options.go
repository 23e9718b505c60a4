package linearagents

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/options"
)

// optionLearner is a learner whose exploration the host may decide on. From the
// first follow of a run on, its actions are those of the option it follows.
type optionLearner interface {
	learner
	// offer says which kinds of options to choose from. It is called once, before
	// start.
	offer(kinds []options.Kind) error
	// look goes to x, where an episode begins, or without learning, and take is
	// step; both without an action.
	look(x []float64)
	take(r float64, x []float64)
	// face describes the decision to be made there. The problem's slices are the
	// learner's until the next call.
	face(p *options.Problem) error
	// follow follows an option of the last problem from now on, and returns its
	// action.
	follow(option int) int
}

// optionPlugin is plugin for an agent whose lanes are optionLearners.
func optionPlugin[P any](id, doc string, defaults P, build func(P, task) (func() optionLearner, error)) framework.Plugin {
	p := plugin(id, doc, defaults, func(p P, t task) (func() learner, error) {
		f, err := build(p, t)
		return func() learner { return f() }, err
	})
	p.Description.Capabilities = []string{"options"}
	open := p.Open
	p.Open = func(raw json.RawMessage, spec framework.Spec, n int) (framework.VectorAgent, error) {
		a, err := open(raw, spec, n)
		if err != nil {
			return nil, err
		}
		l := &optionLanes{lanes: a.(*lanes), facing: make([]facing, n), signals: make([]framework.Signal, n)}
		for i := range l.facing {
			l.facing[i].learner = l.lanes.lanes[i].learner.(optionLearner)
		}
		return l, nil
	}
	return p
}

// optionLanes is a batch of optionLearners: a framework.OptionAgent.
type optionLanes struct {
	*lanes
	facing  []facing
	signals []framework.Signal // of the lanes without an epoch
}

var _ framework.OptionAgent = (*optionLanes)(nil)

// facing is the decision that a lane faces.
type facing struct {
	learner optionLearner
	options int // to choose from; 0 if there is no decision
}

// Offer implements framework.OptionAgent.
func (l *optionLanes) Offer(_ context.Context, kinds []options.Kind) error {
	for i := range l.facing {
		if l.lanes.lanes[i].started {
			return fmt.Errorf("options are offered after the first step: %w", framework.ErrUnsupported)
		}
		if err := l.facing[i].learner.offer(kinds); err != nil {
			return err
		}
	}
	return nil
}

// StepOptions implements framework.OptionAgent.
func (l *optionLanes) StepOptions(ctx context.Context, in *framework.Feedback, epochs []bool, actions *space.Column, problems []options.Problem) error {
	others := *in
	others.Signals = l.signals
	copy(l.signals, in.Signals)
	for i, epoch := range epochs {
		s := in.Signals[i]
		l.facing[i].options = 0
		ended := s != framework.NewRun && s != framework.NewEpisode && (in.Terminated[i] || in.Truncated[i])
		if !epoch || s == framework.Idle || ended {
			continue
		}
		l.signals[i] = framework.Idle
		if err := l.face(i, s, in, &problems[i]); err != nil {
			return err
		}
	}
	return l.Step(ctx, &others, actions)
}

// face lets a lane learn and describe the decision that it faces.
func (l *optionLanes) face(i int, s framework.Signal, in *framework.Feedback, p *options.Problem) error {
	x, f := &l.lanes.lanes[i], &l.facing[i]
	if err := x.check(i, s, in); err != nil {
		return err
	}
	l.read(&in.Observations, i)
	switch s {
	case framework.NewRun:
		f.learner.start(in.Seeds[i])
		x.started = true
		f.learner.look(l.x)
	case framework.Continue:
		f.learner.take(in.Rewards[i], l.x)
	default:
		f.learner.look(l.x)
	}
	if err := f.learner.face(p); err != nil {
		return &framework.LaneError{Lane: i, Err: err}
	}
	x.acting = false
	f.options = len(p.Arms)
	return nil
}

// Choose implements framework.OptionAgent.
func (l *optionLanes) Choose(_ context.Context, choices []int, actions *space.Column) error {
	for i, c := range choices {
		if c < 0 {
			continue
		}
		f := &l.facing[i]
		if c >= f.options {
			return laneError(i, framework.ErrInvalidAction, "option %d of a decision between %d", c, f.options)
		}
		actions.Int64[i] = l.firstAction + int64(f.learner.follow(c))
		f.options = 0
		l.lanes.lanes[i].acting = true
	}
	return nil
}

// GreedyPolicy implements framework.OptionAgent: there is none in a table.
func (l *optionLanes) GreedyPolicy(_ context.Context, _ int, dst []int) ([]int, error) {
	return dst, fmt.Errorf("a policy for observations that are numbers is not in a table: %w", framework.ErrUnsupported)
}

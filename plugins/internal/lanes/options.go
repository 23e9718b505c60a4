package lanes

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/snapshot"
	"github.com/rlrun/rlrun/options"
)

// OptionLearner is a learner whose exploration the host may decide on. From the
// first Choose of a run on, its actions are those of the chosen option.
type OptionLearner[O any] interface {
	Learner[O]
	// SetOptionKinds says which kinds of options to choose from. It is called once,
	// before Start.
	SetOptionKinds(kinds []options.Kind) error
	// SetObservation goes to o, where an episode begins, or without learning.
	SetObservation(o O)
	// Learn is Step without an action.
	Learn(r float64, o O)
	// DescribeDecision describes the decision to be made there. The problem's slices
	// are the learner's until the next call.
	DescribeDecision(p *options.Problem) error
	// Choose executes an option of the last problem from now on, and returns its
	// action.
	Choose(option int) int
	// GreedyPolicy writes the greedy option's action in every state into dst, which it
	// may grow. The error wraps framework.ErrUnsupported where there is no table.
	GreedyPolicy(dst []int) ([]int, error)
}

// Declarer is an OptionLearner that takes options of options.Declared.
type Declarer interface {
	// Declare sets them, from now on. The list is not copied.
	Declare(list []options.DeclaredOption) error
}

// OptionPlugin is Plugin for an agent whose lanes are OptionLearners.
func OptionPlugin[P, O any](id, doc string, defaults P, build func(p P, spec framework.Spec, actions int64) (Kind[O], error)) *vector.AgentPlugin {
	p := Plugin(id, doc, defaults, build)
	p.Description.Abilities = append(p.Description.Abilities, "options")
	open := p.Open
	p.Open = func(raw json.RawMessage, spec framework.Spec, n int) (vector.Agent, error) {
		a, err := open(raw, spec, n)
		if err != nil {
			return nil, err
		}
		l := &optionLanes[O]{lanes: a.(*lanes[O]), learners: make([]OptionLearner[O], n), signals: make([]vector.Signal, n)}
		for i := range l.learners {
			l.learners[i] = l.lanes.lanes[i].learner.(OptionLearner[O])
		}
		l.of = append(l.of, snapshot.Part{Name: "choice of options", Value: "none"})
		return l, nil
	}
	return p
}

// optionLanes is a batch of OptionLearners: a vector.OptionAgent.
type optionLanes[O any] struct {
	*lanes[O]
	learners []OptionLearner[O]
	signals  []vector.Signal // to the lanes without an epoch
}

var _ vector.OptionAgent = (*optionLanes[int])(nil)

// Abilities implements vector.Agent.
func (l *optionLanes[O]) Abilities() vector.AgentAbilities {
	calls := vector.Checkpoint(l.saveLane, l.loadLane)
	if l.kind.States == 1 {
		calls = vector.JoinCalls(calls, vector.Recommendation(l.recommend))
	}
	return vector.AgentAbilities{Options: l, Lane: l, Greedy: l.greedy(), Masks: l.masked(), Calls: calls, Measures: l.measures()}
}

// recommend returns the greedy action of the only state.
func (l *optionLanes[O]) recommend(ctx context.Context, lane int) (int64, error) {
	policy, err := l.GreedyPolicy(ctx, lane, nil)
	if err != nil {
		return 0, err
	}
	return l.firstAction + int64(policy[0]), nil
}

// SetOptionKinds implements vector.OptionAgent.
func (l *optionLanes[O]) SetOptionKinds(_ context.Context, kinds []options.Kind) error {
	for i, x := range l.learners {
		if l.lanes.lanes[i].started {
			return Unsupported("options are offered after the first step")
		}
		if err := x.SetOptionKinds(kinds); err != nil {
			return err
		}
	}
	kinds = slices.Clone(kinds)
	l.offer = func(x Learner[O]) error { return x.(OptionLearner[O]).SetOptionKinds(kinds) }
	l.of[len(l.of)-1].Value = fmt.Sprint(kinds)
	return nil
}

// Declare implements vector.Declarer.
func (l *optionLanes[O]) Declare(_ context.Context, lane int, list []options.DeclaredOption) error {
	x, ok := l.learners[lane].(Declarer)
	if !ok {
		return Unsupported("it takes no declared options")
	}
	return x.Declare(list)
}

// StepOptions implements vector.OptionAgent.
func (l *optionLanes[O]) StepOptions(_ context.Context, in *vector.Feedback, epochs []bool, actions *space.Column, problems []options.Problem) error {
	if err := l.kind.Read(l.seen, in); err != nil {
		return err
	}
	copy(l.signals, in.Signals)
	for i, epoch := range epochs {
		s := in.Signals[i]
		l.lanes.lanes[i].options = 0
		goesOn := s == vector.Continue || s == vector.Evaluate
		if !epoch || s == vector.Idle || goesOn && (in.Terminated[i] || in.Truncated[i]) {
			continue
		}
		l.signals[i] = vector.Idle
		if err := l.describe(i, s, in, &problems[i]); err != nil {
			return err
		}
	}
	return l.step(l.signals, in, actions)
}

// describe lets lane i learn and describe the decision that it faces.
func (l *optionLanes[O]) describe(i int, s vector.Signal, in *vector.Feedback, p *options.Problem) error {
	x, learner, o := &l.lanes.lanes[i], l.learners[i], l.seen[i]
	if l.masks {
		l.allow(i, s, in)
	}
	switch r := in.Rewards[i]; {
	case s == vector.NewRun || s == vector.NewEpisode || s == vector.EvaluateEpisode:
		if err := x.begin(i, s, in); err != nil {
			return err
		}
		learner.SetObservation(o)
	case !x.acting || s == vector.Continue && r-r != 0:
		return x.refuse(i, r)
	case s == vector.Evaluate:
		learner.SetObservation(o)
	default:
		learner.Learn(r, o)
	}
	if err := learner.DescribeDecision(p); err != nil {
		return &vector.LaneError{Lane: i, Err: err}
	}
	x.acting, x.options = false, p.NumOptions()
	return nil
}

// Choose implements vector.OptionAgent.
func (l *optionLanes[O]) Choose(_ context.Context, choices []int, actions *space.Column) error {
	for i, c := range choices {
		if c < 0 {
			continue
		}
		x := &l.lanes.lanes[i]
		if c >= x.options {
			return laneError(i, framework.ErrInvalidAction, "option %d of a decision between %d", c, x.options)
		}
		l.actions.Set(actions, i, int64(x.standIn(x.state, l.learners[i].Choose(c), int(l.lanes.actions.N))))
		x.acting, x.options = true, 0
	}
	return nil
}

// GreedyPolicy implements vector.OptionAgent.
func (l *optionLanes[O]) GreedyPolicy(_ context.Context, lane int, dst []int) ([]int, error) {
	if lane < 0 || lane >= len(l.learners) {
		return dst, fmt.Errorf("lane %d of %d: %w", lane, len(l.learners), framework.ErrUnsupported)
	}
	if !l.discrete {
		return dst, Unsupported("a greedy policy is a table where observations and actions are discrete")
	}
	dst, err := l.learners[lane].GreedyPolicy(dst[:0])
	for s, a := range dst {
		dst[s] = l.lanes.lanes[lane].standIn(s, a, int(l.lanes.actions.N))
	}
	return dst, err
}

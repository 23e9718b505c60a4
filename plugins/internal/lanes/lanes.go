// Package lanes makes plugins of learners: agents that are written for one lane and
// one kind of observation, such as the number of a state or a vector of numbers. It
// holds what they have in common, whatever they learn: their lanes, the signals to
// these, and the decisions that a host makes for them.
package lanes

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/params"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/each"
	"github.com/rlrun/rlrun/internal/snapshot"
)

// Learner is one lane's agent. Actions are numbered from 0. Observations that are
// slices belong to the caller and change after the call.
type Learner[O any] interface {
	// Start forgets everything: a run begins, with random streams of seed.
	Start(seed uint64)
	// Begin returns the first action of an episode.
	Begin(o O) int
	// Step learns that the last action was paid r and led to o, and returns the
	// action to take there.
	Step(r float64, o O) int
	// Act returns the action to take in o, within an episode, and learns nothing.
	Act(o O) int
	// End learns from the last step of an episode.
	End(r float64, o O, terminated bool)
}

// Greedy is a Learner that can act without exploring.
type Greedy[O any] interface {
	// GreedyAction returns an action of the largest value in o. It learns nothing.
	GreedyAction(o O) int
}

// Masked is a Learner that goes by the actions that are allowed.
type Masked[O any] interface {
	// Allow says which actions are allowed in o, before each other call with o. The slice
	// changes afterwards.
	Allow(o O, mask []bool)
}

// Measurer is a Learner with metrics of its own; see framework.Measurer.
type Measurer interface {
	// Metrics returns the metrics, the same at every call.
	Metrics() []framework.Metric
	// Measure writes their values into dst, NaN where there is none.
	Measure(dst []float64)
}

// Kind is a learner for an environment.
type Kind[O any] struct {
	// New makes a lane.
	New func() Learner[O]
	// Read writes the observations of all lanes but the idle ones, valid until the
	// next call. Its errors name the lane.
	Read func(dst []O, in *vector.Feedback) error
	// Number returns what Read makes of an observation of space.Discrete. It is
	// needed where there are such.
	Number func(lane int, observation int64) (O, error)
	// State, if not nil, returns the number of an observation below States. Where such a state
	// lacks actions, their numbers stand for the others in turn (StandIn), so that learners need
	// not be Masked.
	State  func(O) int
	States int
}

// StandIn returns the action that number a stands for where a mask says which are allowed: a
// itself if it is. The others stand for the allowed ones in turn, as in an mdp.Tabular.
func StandIn(mask []bool, a int) int {
	if mask[a] {
		return a
	}
	allowed := each.Count(mask, each.True)
	if allowed == 0 {
		return a
	}
	missing := a - each.Count(mask[:a], each.True)
	return each.Nth(mask, missing%allowed, each.True)
}

// Plugin makes a plugin of an agent with parameters of type P. defaults holds their
// default values. build checks the parameters for an environment with so many
// discrete actions. If its error does not wrap framework.ErrUnsupported, the
// parameters are at fault.
func Plugin[P, O any](id, doc string, defaults P, build func(p P, spec framework.Spec, actions int64) (Kind[O], error)) *vector.AgentPlugin {
	return &vector.AgentPlugin{
		Description: vector.Description{ID: id, Kind: vector.KindAgent, Doc: doc, Params: params.Schema(&defaults), Abilities: []string{"checkpoint"}},
		Open: func(raw json.RawMessage, spec framework.Spec, n int) (vector.Agent, error) {
			p := defaults
			if err := params.Decode(raw, &p); err != nil {
				return nil, err
			}
			if err := params.Check(&p); err != nil {
				return nil, fmt.Errorf("%s: %w", id, err)
			}
			actions, ok := space.Enumerate(spec.Action, math.MaxInt32)
			if !ok {
				return nil, fmt.Errorf("%s needs discrete actions; those of %s are %s: %w", id, spec.ID, Countless(spec.Action, "not, and Gymnasium's wrapper DiscretizeAction makes them so"), framework.ErrUnsupported)
			}
			kind, err := build(p, spec, actions.N)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", id, err)
			}
			l := &lanes[O]{kind: kind, seen: make([]O, n), actions: actions, lanes: make([]lane[O], n), masks: spec.Masks}
			_, l.discrete = spec.Observation.(space.Discrete)
			if first, ok := spec.Action.(space.Discrete); ok {
				l.firstAction = first.Start
			} else {
				l.discrete, l.selected = false, make([]int64, n)
			}
			for i := range l.lanes {
				l.lanes[i] = l.newLane(kind.New())
			}
			l.of, err = Describe(id, p, spec)
			return l, err
		},
	}
}

// Countless says why a space is not enumerated: its values are too many, or else as box says.
func Countless(s space.Space, box string) string {
	if _, ok := s.(space.Box); ok {
		return box
	}
	return "too many"
}

// Invalid is an error about parameters.
func Invalid(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, framework.ErrInvalidParams)...)
}

// Unsupported is an error about an environment or host that does not suit an agent.
func Unsupported(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, framework.ErrUnsupported)...)
}

// CheckDiscount refuses a discount of 1 in tasks that continue.
func CheckDiscount(gamma float64, spec framework.Spec) error {
	if gamma == 1 && spec.Continuing {
		return Unsupported("a gamma of 1 is for episodic tasks, and %s continues: give gamma below 1, such as 0.99", spec.ID)
	}
	return nil
}

// lanes is a batch of learners: a vector.Agent.
type lanes[O any] struct {
	kind        Kind[O]
	seen        []O // the observations of the present call
	firstAction int64
	actions     space.Enumeration
	selected    []int64 // numbers of actions, where these are not Discrete
	discrete    bool    // observations and actions are
	masks       bool    // there are masks
	lanes       []lane[O]
	of          snapshot.Of
	offer       func(x Learner[O]) error // offers the host's options to a learner; nil if there are none
}

type lane[O any] struct {
	learner   Learner[O]
	started   bool // a run has begun
	acting    bool // an episode goes on
	evaluates bool // in it the lane is greedy
	options   int  // of the decision that it faces; 0 if there is none
	state     int  // the present one, with standIns
	// standIns has for state s and action a, at s·A + a, 1 more than the action that a stands for,
	// 0 where that is not known; nil if there are no masks, or no states.
	standIns []int32
}

func (l *lanes[O]) newLane(x Learner[O]) lane[O] {
	n := 0
	if l.masks {
		n = l.kind.States * int(l.actions.N)
	}
	return lane[O]{learner: x, standIns: make([]int32, n)}
}

// allow tells lane i what is allowed where it is.
func (l *lanes[O]) allow(i int, s vector.Signal, in *vector.Feedback) {
	x, mask := &l.lanes[i], in.Mask(i)
	if s == vector.NewRun {
		clear(x.standIns)
	}
	if m, ok := x.learner.(Masked[O]); ok {
		m.Allow(l.seen[i], mask)
	}
	if len(x.standIns) > 0 {
		x.state = l.kind.State(l.seen[i])
		for a := range mask {
			x.standIns[x.state*len(mask)+a] = int32(StandIn(mask, a)) + 1
		}
	}
}

// standIn returns the action that a stands for in state s.
func (x *lane[O]) standIn(s, a, actions int) int {
	if len(x.standIns) == 0 {
		return a
	}
	if b := x.standIns[s*actions+a]; b > 0 {
		return int(b) - 1
	}
	return a
}

// greedy says whether the learners are Greedy.
func (l *lanes[O]) greedy() bool {
	_, ok := l.lanes[0].learner.(Greedy[O])
	return ok
}

// masked says whether the learners select allowed actions alone.
func (l *lanes[O]) masked() bool {
	_, ok := l.lanes[0].learner.(Masked[O])
	return ok || l.kind.State != nil
}

// Learners returns the learners of an agent that Plugin or OptionPlugin made, for
// tests.
func Learners[O any](a vector.Agent) []Learner[O] {
	if o, ok := a.(*optionLanes[O]); ok {
		a = o.lanes
	}
	return each.Of(a.(*lanes[O]).lanes, func(x lane[O]) Learner[O] { return x.learner })
}

// Step implements vector.Agent.
func (l *lanes[O]) Step(_ context.Context, in *vector.Feedback, actions *space.Column) error {
	if err := l.kind.Read(l.seen, in); err != nil {
		return err
	}
	return l.step(in.Signals, in, actions)
}

// step is Step for the lanes with a signal, others than in has perhaps, after read.
func (l *lanes[O]) step(signals []vector.Signal, in *vector.Feedback, actions *space.Column) error {
	n := len(signals)
	selected := l.selected
	if selected == nil {
		selected = actions.Int64[:n]
	}
	lanes, seen, rewards := l.lanes[:n], l.seen[:n], in.Rewards[:n]
	terminated, truncated, first := in.Terminated[:n], in.Truncated[:n], l.firstAction
	for i, s := range signals {
		x, o, action := &lanes[i], seen[i], 0
		if l.masks && s != vector.Idle {
			l.allow(i, s, in)
		}
		switch s {
		case vector.Continue:
			r := rewards[i]
			if !x.acting || r-r != 0 {
				return x.refuse(i, r)
			}
			if terminated[i] || truncated[i] {
				x.learner.End(r, o, terminated[i])
				x.acting = false
				continue
			}
			action = x.learner.Step(r, o)
		case vector.Evaluate:
			if !x.acting {
				return x.refuse(i, 0)
			}
			if terminated[i] || truncated[i] {
				x.acting = false
				continue
			}
			if x.evaluates {
				action = x.learner.(Greedy[O]).GreedyAction(o)
			} else {
				action = x.learner.Act(o)
			}
		case vector.Idle:
			continue
		default:
			if err := x.begin(i, s, in); err != nil {
				return err
			}
			x.acting = true
			if x.evaluates {
				action = x.learner.(Greedy[O]).GreedyAction(o)
			} else {
				action = x.learner.Begin(o)
			}
		}
		if l.masks {
			action = x.standIn(x.state, action, int(l.actions.N))
		}
		selected[i] = first + int64(action)
		if l.selected != nil {
			l.actions.Set(actions, i, selected[i])
		}
	}
	return nil
}

// Abilities implements vector.Agent.
func (l *lanes[O]) Abilities() vector.AgentAbilities {
	return vector.AgentAbilities{Lane: l, Greedy: l.greedy(), Masks: l.masked(), Calls: vector.Checkpoint(l.saveLane, l.loadLane), Measures: l.measures()}
}

func (l *lanes[O]) measures() *vector.Measures {
	m, ok := l.lanes[0].learner.(Measurer)
	if !ok {
		return nil
	}
	metrics := m.Metrics()
	return &vector.Measures{Metrics: metrics, Read: func(_ context.Context, lanes []int, dst []float64) error {
		for k, lane := range lanes {
			l.lanes[lane].learner.(Measurer).Measure(dst[k*len(metrics) : (k+1)*len(metrics)])
		}
		return nil
	}}
}

// StepLane implements vector.LaneAgent.
func (l *lanes[O]) StepLane(i int, observation int64, reward float64) (action int64, err error) {
	x := &l.lanes[i]
	if !x.acting || reward-reward != 0 {
		return 0, x.refuse(i, reward)
	}
	o, err := l.kind.Number(i, observation)
	if err != nil {
		return 0, err
	}
	return l.firstAction + int64(x.learner.Step(reward, o)), nil
}

// begin prepares lane i for the beginning of a run or episode.
func (x *lane[O]) begin(i int, s vector.Signal, in *vector.Feedback) error {
	if s == vector.NewRun {
		x.learner.Start(in.Seeds[i])
		x.started = true
	}
	if !x.started {
		return laneError(i, framework.ErrNeedsReset, "an episode before the first run")
	}
	x.evaluates = s == vector.EvaluateEpisode
	if _, ok := x.learner.(Greedy[O]); x.evaluates && !ok {
		return laneError(i, framework.ErrUnsupported, "the agent has no greedy actions")
	}
	return nil
}

// refuse is the error about a reward that is no number, or paid for no action.
func (x *lane[O]) refuse(i int, r float64) error {
	if !x.acting {
		return laneError(i, framework.ErrNeedsReset, "a step outside an episode, or before an option was chosen")
	}
	return laneError(i, framework.ErrInvalidAnswer, "reward %v", r)
}

func laneError(lane int, kind error, format string, args ...any) error {
	return &vector.LaneError{Lane: lane, Err: fmt.Errorf(format+": %w", append(args, kind)...)}
}

// Close implements vector.Agent.
func (l *lanes[O]) Close() error { return nil }

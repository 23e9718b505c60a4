// Package linearagents is agents for observations that are numbers: values are
// linear in the features of tile coding (plugins/internal/tiles), learned by
// semi-gradient methods (Sutton & Barto 2018, ch. 10 and 12).
//
// All refuse, with an error wrapping framework.ErrUnsupported, environments whose
// observations are not a framework/space.Box with finite bounds, unless the
// parameters low and high supply them, or whose actions are not Discrete. All
// bootstrap from the last observation of a truncated episode, and with zero where
// it terminated. After the start of a run nothing is allocated.
package linearagents

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/params"
	"github.com/rlrun/rlrun/framework/space"
)

// Plugins returns every agent of the package.
func Plugins() []framework.Plugin {
	return []framework.Plugin{SARSA(), Bootstrap()}
}

// learner is one lane's agent. Actions are numbered from 0. Observations belong to
// the caller and change after the call.
type learner interface {
	// start forgets everything: a run begins, with random streams of seed.
	start(seed uint64)
	// begin returns the first action of an episode.
	begin(x []float64) int
	// step learns that the last action was paid r and led to x, and returns the
	// action to take there.
	step(r float64, x []float64) int
	// watch is step without learning.
	watch(x []float64) int
	// end learns from the last step of an episode.
	end(r float64, x []float64, terminated bool)
}

// plugin makes a plugin of an agent whose parameters are a P. defaults holds their
// default values. build checks the parameters and returns a function that makes a
// lane.
func plugin[P any](id, doc string, defaults P, build func(P, task) (func() learner, error)) *framework.AgentPlugin {
	return &framework.AgentPlugin{
		Description: framework.Description{ID: id, Kind: framework.KindAgent, Doc: doc, Params: params.Schema(&defaults)},
		Open: func(raw json.RawMessage, spec framework.Spec, n int) (framework.VectorAgent, error) {
			p := defaults
			if err := params.Decode(raw, &p); err != nil {
				return nil, err
			}
			box, ok := spec.Observation.(space.Box)
			if !ok {
				return nil, fmt.Errorf("%s is for observations that are numbers; those of %s are not a box: %w", id, spec.ID, framework.ErrUnsupported)
			}
			actions, ok := spec.Action.(space.Discrete)
			if !ok {
				return nil, fmt.Errorf("%s needs discrete actions; those of %s are not: %w", id, spec.ID, framework.ErrUnsupported)
			}
			if actions.N > maxActions {
				return nil, fmt.Errorf("%s: %s has %d actions, more than %d: %w", id, spec.ID, actions.N, maxActions, framework.ErrUnsupported)
			}
			newLearner, err := build(p, task{spec, box, int(actions.N)})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", id, err)
			}
			l := &lanes{firstAction: actions.Start, width: box.Width(), lanes: make([]lane, n)}
			l.x = make([]float64, l.width)
			for i := range l.lanes {
				l.lanes[i].learner = newLearner()
			}
			return l, nil
		},
	}
}

// maxActions bounds the number of actions.
const maxActions = 1 << 12

// task is what agents need to know of an environment.
type task struct {
	spec    framework.Spec
	box     space.Box
	actions int
}

// invalid is an error about parameters.
func invalid(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, framework.ErrInvalidParams)...)
}

// lanes is a batch of learners: a framework.VectorAgent.
type lanes struct {
	firstAction int64
	width       int // of an observation
	lanes       []lane
	x           []float64 // scratch: an observation
}

type lane struct {
	learner learner
	started bool // a run has begun
	acting  bool // an episode goes on
}

// Step implements framework.VectorAgent.
func (l *lanes) Step(_ context.Context, in *framework.Feedback, actions *space.Column) error {
	for i, s := range in.Signals {
		if s == framework.Idle {
			continue
		}
		x, action := &l.lanes[i], 0
		if err := x.check(i, s, in); err != nil {
			return err
		}
		l.read(&in.Observations, i)
		ended := s != framework.NewRun && s != framework.NewEpisode && (in.Terminated[i] || in.Truncated[i])
		x.acting = !ended
		switch {
		case s == framework.NewRun:
			x.learner.start(in.Seeds[i])
			x.started = true
			action = x.learner.begin(l.x)
		case s == framework.NewEpisode:
			action = x.learner.begin(l.x)
		case ended && s == framework.Evaluate:
			continue
		case ended:
			x.learner.end(in.Rewards[i], l.x, in.Terminated[i])
			continue
		case s == framework.Evaluate:
			action = x.learner.watch(l.x)
		default:
			action = x.learner.step(in.Rewards[i], l.x)
		}
		actions.Int64[i] = l.firstAction + int64(action)
	}
	return nil
}

// check reports what is wrong with a signal to a lane.
func (x *lane) check(i int, s framework.Signal, in *framework.Feedback) error {
	switch r := in.Rewards[i]; {
	case s == framework.NewRun:
	case s == framework.NewEpisode && !x.started:
		return laneError(i, framework.ErrNeedsReset, "an episode before the first run")
	case s == framework.NewEpisode:
	case !x.acting:
		return laneError(i, framework.ErrNeedsReset, "a step outside an episode, or before an option was chosen")
	case s == framework.Continue && r-r != 0:
		return laneError(i, framework.ErrInvalidAnswer, "reward %v", r)
	}
	return nil
}

// read puts lane i's observation into l.x.
func (l *lanes) read(c *space.Column, i int) {
	from, to := i*l.width, (i+1)*l.width
	switch c.Type {
	case space.Float64:
		copy(l.x, c.Float64[from:to])
	case space.Float32:
		for k, v := range c.Float32[from:to] {
			l.x[k] = float64(v)
		}
	case space.Uint8:
		for k, v := range c.Uint8[from:to] {
			l.x[k] = float64(v)
		}
	}
}

func laneError(lane int, kind error, format string, args ...any) error {
	return &framework.LaneError{Lane: lane, Err: fmt.Errorf(format+": %w", append(args, kind)...)}
}

// Close implements framework.VectorAgent.
func (l *lanes) Close() error { return nil }

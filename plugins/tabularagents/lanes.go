// Package tabularagents is the classical agents for finite tasks, each a plugin, and
// those that hold several opinions for a host to explore by (lanes_options.go). They
// hold tables over states and actions, and take an observation for a Markov state.
//
// All refuse, with an error wrapping framework.ErrUnsupported, environments whose
// observations or actions are not framework/space.Discrete, and those with more
// than 2^24 pairs of them. All bootstrap from the last observation of a truncated
// episode, and with zero where it terminated.
package tabularagents

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
	return []framework.Plugin{QLearning(), SARSA(), DynaQ(), PSRL(), BOSS(), GaussianPSRL(), UCBVI(), BootstrapQ(), BootstrapModel(), BayesianQ(), UCRL2(), MBIEEB(), RMAX(), E3()}
}

// learner is one lane's agent. States and actions are numbered from 0.
type learner interface {
	// start forgets everything: a run begins, with random streams of seed.
	start(seed uint64)
	// begin returns the first action of an episode.
	begin(s int) int
	// step learns that the last action was paid r and led to next, and returns the
	// action to take there.
	step(r float64, next int) int
	// end learns from the last step of an episode.
	end(r float64, next int, terminated bool)
}

// actor is a learner that can act within an episode without learning. Others are
// told that an episode begins.
type actor interface {
	act(s int) int
}

// task is what agents need to know of an environment.
type task struct {
	states, actions int
	spec            framework.Spec
}

// maxPairs bounds the size of a table.
const maxPairs = 1 << 24

// plugin makes a plugin of an agent whose parameters are a P. defaults holds
// their default values. build checks the parameters and returns a function that
// makes a lane; an error that does not wrap framework.ErrUnsupported is put down
// to the parameters.
func plugin[P any](id, doc string, defaults P, build func(P, task) (func() learner, error)) framework.Plugin {
	return &framework.AgentPlugin{
		Description: framework.Description{ID: id, Kind: framework.KindAgent, Doc: doc, Params: params.Schema(&defaults)},
		Open: func(raw json.RawMessage, spec framework.Spec, n int) (framework.VectorAgent, error) {
			p := defaults
			if err := params.Decode(raw, &p); err != nil {
				return nil, err
			}
			states, ok := spec.Observation.(space.Discrete)
			if !ok {
				return nil, fmt.Errorf("%s is for finite tasks; the observations of %s are not discrete: %w", id, spec.ID, framework.ErrUnsupported)
			}
			actions, ok := spec.Action.(space.Discrete)
			if !ok {
				return nil, fmt.Errorf("%s is for finite tasks; the actions of %s are not discrete: %w", id, spec.ID, framework.ErrUnsupported)
			}
			if states.N > maxPairs || actions.N > maxPairs/states.N {
				return nil, fmt.Errorf("%s: %s has %d states and %d actions, too many for a table: %w", id, spec.ID, states.N, actions.N, framework.ErrUnsupported)
			}
			newLearner, err := build(p, task{int(states.N), int(actions.N), spec})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", id, err)
			}
			l := &lanes{states: uint64(states.N), firstState: states.Start, firstAction: actions.Start, lanes: make([]lane, n)}
			for i := range l.lanes {
				l.lanes[i].learner = newLearner()
			}
			return l, nil
		},
	}
}

// invalid is an error about parameters.
func invalid(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, framework.ErrInvalidParams)...)
}

// lanes is a batch of learners: a framework.VectorAgent.
type lanes struct {
	states                  uint64
	firstState, firstAction int64
	lanes                   []lane
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
		x := &l.lanes[i]
		next, action := l.state(in.Observations.Int64[i]), 0
		if next < 0 {
			return l.strange(i, in.Observations.Int64[i])
		}
		switch {
		case s == framework.Continue:
			r := in.Rewards[i]
			if !x.acting || r-r != 0 {
				return x.refuse(i, r)
			}
			if in.Terminated[i] || in.Truncated[i] {
				x.learner.end(r, next, in.Terminated[i])
				x.acting = false
				continue
			}
			action = x.learner.step(r, next)
		case s == framework.NewRun:
			x.learner.start(in.Seeds[i])
			x.started, x.acting = true, true
			action = x.learner.begin(next)
		case !x.started:
			return laneError(i, framework.ErrNeedsReset, "an episode before the first run")
		case s == framework.Evaluate && (in.Terminated[i] || in.Truncated[i]):
			x.acting = false
			continue
		default:
			x.acting = true
			if a, ok := x.learner.(actor); ok && s == framework.Evaluate {
				action = a.act(next)
			} else {
				action = x.learner.begin(next)
			}
		}
		actions.Int64[i] = l.firstAction + int64(action)
	}
	return nil
}

// state returns the number of an observation, -1 if it has none.
func (l *lanes) state(observation int64) int {
	if s := uint64(observation) - uint64(l.firstState); s < l.states {
		return int(s)
	}
	return -1
}

// strange is the error about an observation that has no number.
func (l *lanes) strange(i int, observation int64) error {
	return laneError(i, framework.ErrInvalidAnswer, "observation %d is none of %d", observation, l.states)
}

// refuse is the error about a reward that is no number, or paid for no action.
func (x *lane) refuse(i int, r float64) error {
	if !x.acting {
		return laneError(i, framework.ErrNeedsReset, "a step outside an episode, or before an option was chosen")
	}
	return laneError(i, framework.ErrInvalidAnswer, "reward %v", r)
}

func laneError(lane int, kind error, format string, args ...any) error {
	return &framework.LaneError{Lane: lane, Err: fmt.Errorf(format+": %w", append(args, kind)...)}
}

// Close implements framework.VectorAgent.
func (l *lanes) Close() error { return nil }

// Package classiccontrol has small control tasks for learners with function
// approximation. MountainCar, CartPole and Acrobot have the dynamics of
// Gymnasium: testdata/trajectories.json holds its trajectories, which the tests
// repeat. PuddleWorld follows the description of Sutton (1996).
//
// The state is kept in float64; observations are Boxes of float32, as Gymnasium's.
// Initial states have Gymnasium's distributions, but come from rlrun's own random
// streams.
package classiccontrol

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"math/rand/v2"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/params"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// Plugins returns every task of the package.
func Plugins() []vector.Plugin {
	return []vector.Plugin{MountainCar(), CartPole(), Acrobot(), PuddleWorld()}
}

// state is what a task remembers; its meaning is the task's.
type state [4]float64

// dynamics is one task. Randomness comes from rng alone.
type dynamics interface {
	// spec describes the task, except for its id.
	spec() framework.Spec
	// names are those of the actions.
	names() []string
	// start draws the first state of an episode.
	start(x *state, rng *rand.Rand)
	// step moves x by an action, counted from 0.
	step(x *state, action int, rng *rand.Rand) (reward float64, terminated bool)
	// observe writes the observation of x into dst, which is as wide as the
	// observation space.
	observe(x *state, dst []float32)
	// draw shows x.
	draw(x *state) image.Image
}

// Limit is the parameter that all tasks share.
type Limit struct {
	MaxSteps int `json:"max_steps" jsonschema:"minimum=0" jsonschema_description:"Steps after which an episode is truncated; 0 for none."`
}

func (l Limit) maxSteps() int { return l.MaxSteps }

// plugin makes a plugin of a task whose parameters are a P. fps is the pace of its frames,
// defaults holds default values of parameters.
func plugin[P interface{ maxSteps() int }](id, doc string, fps float64, defaults P, build func(P) dynamics) vector.Plugin {
	return &vector.EnvironmentPlugin{
		Description: vector.Description{
			ID: id, Kind: vector.KindEnvironment, Doc: doc, Params: params.Schema(&defaults),
			Abilities: []string{"action_names", "frames"}, FramesPerSecond: fps,
		},
		Open: func(raw json.RawMessage, n int) (vector.Environment, error) {
			p := defaults
			if err := params.Decode(raw, &p); err != nil {
				return nil, err
			}
			if err := params.Check(&p); err != nil {
				return nil, err
			}
			return newLanes(id, build(p), p.maxSteps(), n), nil
		},
	}
}

// lanes are copies of one task.
type lanes struct {
	dynamics
	described framework.Spec
	actions   uint64
	width     int // of an observation
	limit     int // steps after which an episode is truncated; 0 for none
	lanes     []lane
}

type lane struct {
	pcg   rand.PCG
	rng   *rand.Rand // over pcg
	state state
	steps int
	over  bool // before the first reset and after the end of an episode
}

func newLanes(id string, d dynamics, limit, n int) *lanes {
	l := &lanes{dynamics: d, described: d.spec(), limit: limit, lanes: make([]lane, n)}
	l.described.ID = id
	l.actions = uint64(l.described.Action.(space.Discrete).N)
	l.width = l.described.Observation.Width()
	for i := range l.lanes {
		l.lanes[i].rng = rand.New(&l.lanes[i].pcg)
		l.lanes[i].over = true
	}
	return l
}

// Spec implements vector.Environment.
func (l *lanes) Spec() framework.Spec { return l.described }

// Step implements vector.Environment.
func (l *lanes) Step(_ context.Context, in *vector.Actions, out *vector.TimeSteps) error {
	for i, s := range in.Signals {
		x := &l.lanes[i]
		switch s {
		case vector.Continue:
			a := in.Actions.Int64[i]
			if x.over {
				return &vector.LaneError{Lane: i, Err: framework.ErrNeedsReset}
			}
			if uint64(a) >= l.actions {
				return &vector.LaneError{Lane: i, Err: fmt.Errorf("action %d of %d: %w", a, l.actions, framework.ErrInvalidAction)}
			}
			reward, terminated := l.step(&x.state, int(a), x.rng)
			x.steps++
			truncated := !terminated && x.steps == l.limit
			x.over = terminated || truncated
			out.Rewards[i], out.Terminated[i], out.Truncated[i] = reward, terminated, truncated
		case vector.NewEpisode, vector.NewRun:
			x.pcg.Seed(in.Seeds[i], uint64(seed.Environment))
			l.start(&x.state, x.rng)
			x.steps, x.over = 0, false
			out.Rewards[i], out.Terminated[i], out.Truncated[i] = 0, false, false
		default:
			continue
		}
		l.observe(&x.state, out.Observations.Float32[i*l.width:(i+1)*l.width])
	}
	return nil
}

// Abilities implements vector.Environment.
func (l *lanes) Abilities() vector.EnvironmentAbilities {
	return vector.EnvironmentAbilities{Calls: vector.JoinCalls(vector.RenderFrame.By(l.renderFrame), vector.ActionNames.By(l.actionNames))}
}

// actionNames implements vector.ActionNames.
func (l *lanes) actionNames(context.Context, int) ([]string, error) { return l.names(), nil }

// Close implements vector.Environment.
func (l *lanes) Close() error { return nil }

// uniform draws from [low, high).
func uniform(rng *rand.Rand, low, high float64) float64 { return low + (high-low)*rng.Float64() }

// box is the space of float32 observations between bounds.
func box(low, high []float64) space.Box {
	return space.Box{Low: low, High: high, Shape: []int{len(low)}, Type: space.Float32}
}

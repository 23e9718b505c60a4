// Package tabular provides the finite tasks of mdp/catalog as environments. An
// environment is made from its model: stepping it is walking the model, draw for
// draw, and the host can ask for the model itself.
package tabular

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// lanes are copies of one finite task; they share its model.
type lanes struct {
	spec   framework.Spec
	task   *catalog.Task
	model  *mdp.Tabular // the task's
	limit  int          // steps after which an episode is truncated; 0 for none
	states []lane

	changes *Changes // nil if the task stays as it is
	worlds  []world
	gains   []float64 // of the tasks that follow each other: their best rewards per step
	notes   func(context.Context, int) ([]string, error)

	board *board // nil before the first frame
}

type lane struct {
	pcg   rand.PCG
	rng   *rand.Rand // over pcg
	model *mdp.Tabular
	state int
	steps int
	over  bool // before the first reset and after the end of an episode
	dives dives
}

// New returns lanes of an environment that walks the model of a task. Episodes of
// limit steps are truncated; 0 means no limit. The environment continues if it has
// neither a limit nor a terminal state, and its bounds are those of its rewards.
func New(id string, t *catalog.Task, limit, n int) vector.Environment {
	low, high := t.Model.RewardBounds()
	model := t.Model
	if limit != model.EpisodeSteps() {
		model = model.TruncatedAfter(limit)
	}
	l := &lanes{
		spec: framework.Spec{
			ID:          id,
			Observation: space.Discrete{N: int64(t.Model.NumStates())},
			Action:      space.Discrete{N: int64(t.Model.NumActions())},
			RewardLow:   low, RewardHigh: high,
			Continuing: limit == 0 && !t.Model.HasTerminal(),
		},
		task: t, model: model, limit: limit, states: make([]lane, n),
	}
	for i := range l.states {
		l.states[i].rng = rand.New(&l.states[i].pcg)
		l.states[i].over, l.states[i].model = true, model
	}
	return l
}

// Spec implements vector.Environment.
func (l *lanes) Spec() framework.Spec { return l.spec }

// Step implements vector.Environment.
func (l *lanes) Step(_ context.Context, in *vector.Actions, out *vector.TimeSteps) error {
	for i, s := range in.Signals {
		switch s {
		case vector.Continue:
			s, err := l.step(i, in.Actions.Int64[i])
			if err != nil {
				return err
			}
			out.Observations.Int64[i], out.Rewards[i], out.Terminated[i], out.Truncated[i] = s.Observation, s.Reward, s.Terminated, s.Truncated
			l.mask(i, out)
		case vector.NewEpisode, vector.NewRun:
			if s == vector.NewRun && l.changes != nil {
				l.begin(i, in.Seeds[i])
			}
			x := &l.states[i]
			if x.dives.left = false; s == vector.NewRun {
				x.dives = dives{}
			}
			x.pcg.Seed(in.Seeds[i], uint64(seed.Environment))
			x.state, x.steps, x.over = x.model.Start(x.rng), 0, false
			out.Observations.Int64[i], out.Rewards[i] = int64(x.state), 0
			out.Terminated[i], out.Truncated[i] = false, false
			l.mask(i, out)
		}
	}
	return nil
}

// Mask lets lanes that NewChanging made say which actions their states have. Their notes leave out that states lack some.
func Mask(env vector.Environment) {
	l := env.(*lanes)
	notes := l.notes
	l.spec.Masks, l.notes = true, func(ctx context.Context, lane int) ([]string, error) {
		list, err := notes(ctx, lane)
		return slices.DeleteFunc(slices.Clone(list), func(note string) bool { return strings.Contains(note, mdp.Missing) }), err
	}
}

// mask writes which actions lane i has.
func (l *lanes) mask(i int, out *vector.TimeSteps) {
	mask := out.Mask(i)
	for a := range mask {
		mask[a] = l.model.Available(l.states[i].state, a)
	}
}

// Abilities implements vector.Environment.
func (l *lanes) Abilities() vector.EnvironmentAbilities {
	a := vector.EnvironmentAbilities{Models: l.models, Calls: vector.RenderFrame.By(l.renderFrame), PlayLane: l.play}
	if l.changes != nil { // it has no one model
		a.Models, a.Measures = nil, l.measures()
	}
	if l.task.Dives != nil {
		a.Measures = l.diveMeasures()
	}
	if l.spec.Masks { // which are a column
		a.PlayLane = nil
	}
	if l.notes != nil {
		a.Calls = vector.JoinCalls(a.Calls, vector.ModelNotes.By(l.notes))
	}
	return a
}

func (l *lanes) play(i int, agent vector.LaneAgent, last vector.LaneStep, actions []int64, rewards []float64) (int, vector.LaneStep, error) {
	for k := range actions {
		action, err := agent.StepLane(i, last.Observation, last.Reward)
		if err != nil {
			return k, last, &vector.AgentError{Err: err}
		}
		if last, err = l.step(i, action); err != nil {
			return k, last, err
		}
		actions[k], rewards[k] = action, last.Reward
		if last.Terminated || last.Truncated {
			return k + 1, last, nil
		}
	}
	return len(actions), last, nil
}

// step makes one step of lane i.
func (l *lanes) step(i int, action int64) (s vector.LaneStep, err error) {
	x := &l.states[i]
	if x.over || uint64(action) >= uint64(l.model.NumActions()) {
		return s, l.refuse(i, action)
	}
	from := x.state
	x.state, s.Reward = x.model.Step(x.state, int(action), x.rng)
	if l.changes != nil {
		l.pass(i, int(action), s.Reward)
	}
	x.steps++
	s.Observation = int64(x.state)
	s.Terminated = l.model.Terminal(x.state)
	s.Truncated = !s.Terminated && x.steps == l.limit
	x.over = s.Terminated || s.Truncated
	if l.task.Dives != nil {
		l.dive(x, from, int(action))
	}
	return s, nil
}

// refuse is the error about an action that lane i cannot take.
func (l *lanes) refuse(i int, action int64) error {
	if l.states[i].over {
		return &vector.LaneError{Lane: i, Err: framework.ErrNeedsReset}
	}
	return &vector.LaneError{Lane: i, Err: fmt.Errorf("action %d of %d: %w", action, l.model.NumActions(), framework.ErrInvalidAction)}
}

// models returns one model, which all lanes share.
func (l *lanes) models(context.Context) ([]*mdp.Tabular, error) {
	models := make([]*mdp.Tabular, len(l.states))
	for i := range models {
		models[i] = l.model
	}
	return models, nil
}

// Task returns the task: its model, the names of its actions, and where on a grid
// its states are. A host that has the environment in its own process can ask for
// it. It must not be changed.
func (l *lanes) Task() *catalog.Task { return l.task }

// Close implements vector.Environment.
func (l *lanes) Close() error { return nil }
